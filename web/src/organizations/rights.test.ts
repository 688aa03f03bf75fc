import { describe, expect, it } from 'vitest'
import { changeDenial, grantable, inviteDenial, leavingDenial, removalDenial } from './rights'

const [member, admin, owner] = [1, 8, 15]

describe('rights, as the API has them', () => {
  it.each([
    [owner, owner, true],
    [owner, admin, true],
    [admin, admin, true],
    [admin, owner, false],
    [member, member, false],
  ])('level %i changes and removes others of level %i: %s', (actor, target, isAllowed) => {
    const meeting = { actor, target, isSelf: false, owners: 2 }
    expect([changeDenial(meeting) === null, removalDenial(meeting) === null]).toEqual([isAllowed, isAllowed])
  })

  it('everybody may leave, and nobody changes their own level', () => {
    for (const level of [member, admin, owner]) {
      const meeting = { actor: level, target: level, isSelf: true, owners: 2 }
      expect([changeDenial(meeting) === null, removalDenial(meeting)]).toEqual([false, null])
    }
  })

  it('the last owner does not leave', () => {
    const last = { actor: owner, target: owner, isSelf: true, owners: 1 }
    expect(removalDenial(last)).toContain('make somebody else owner first')
    expect(leavingDenial({ membership_level: owner, owner_count: 1 })).toBe(removalDenial(last))
    expect(leavingDenial({ membership_level: admin, owner_count: 1 })).toBeNull()
  })

  it('nobody gives more than they have', () => {
    expect(grantable(admin).map(({ label }) => label)).toEqual(['Member', 'Admin'])
    expect(grantable(member).map(({ label }) => label)).toEqual(['Member'])
  })

  it('members invite where the organization lets them', () => {
    expect(inviteDenial({ membership_level: member, members_can_invite: true })).toBeNull()
    expect(inviteDenial({ membership_level: member, members_can_invite: false })).not.toBeNull()
    expect(inviteDenial({ membership_level: admin, members_can_invite: false })).toBeNull()
  })
})
