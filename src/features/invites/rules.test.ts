// Who may invite whom, when an invite is good, and which lists make sense. No database.
import { describe, expect, it } from 'vitest'
import type { Level } from '../../platform/http/caller.ts'
import { assertDistinct, assertMayInvite, expiryFrom, isExpired } from './rules.ts'
import type { InviteFields } from './schema.ts'

const codeOf = (work: () => void) => {
  try {
    work()
    return 'allowed'
  } catch (error) {
    const { code, attr } = error as { code: string; attr: string | null }
    return `${code} ${attr}`
  }
}

describe('assertMayInvite', () => {
  const REFUSED = 'permission_denied null'
  it.each<[Level, Level, string, string]>([
    [1, 1, 'allowed', REFUSED],
    [1, 8, REFUSED, REFUSED],
    [1, 15, REFUSED, REFUSED],
    [8, 1, 'allowed', 'allowed'],
    [8, 8, 'allowed', 'allowed'],
    [8, 15, REFUSED, REFUSED],
    [15, 1, 'allowed', 'allowed'],
    [15, 8, 'allowed', 'allowed'],
    [15, 15, 'allowed', 'allowed'],
  ])('level %i inviting at level %i: %s; where members may not: %s', (inviter, invitee, usual, closed) => {
    for (const [members_can_invite, expected] of [
      [true, usual],
      [false, closed],
    ] as const) {
      expect(codeOf(() => assertMayInvite({ members_can_invite }, inviter, invitee))).toBe(expected)
    }
  })
})

describe('expiry', () => {
  const made = new Date('2024-02-27T12:00:00.000Z')

  it('comes three days after the making, leap day or not', () => {
    expect(expiryFrom(made).toISOString()).toBe('2024-03-01T12:00:00.000Z')
  })

  it.each([
    ['2024-02-27T12:00:00.000Z', false],
    ['2024-03-01T11:59:59.999Z', false],
    ['2024-03-01T12:00:00.000Z', true],
    ['2025-01-01T00:00:00.000Z', true],
  ])('at %s expired is %s', (now, expected) => {
    expect(isExpired({ expires_at: expiryFrom(made) }, new Date(now))).toBe(expected)
  })
})

describe('assertDistinct', () => {
  const list = (...addresses: string[]) => addresses.map((target_email) => ({ target_email }) as InviteFields)

  it.each([
    [list(), 'allowed'],
    [list('a@x.example'), 'allowed'],
    [list('a@x.example', 'b@x.example', 'a@y.example'), 'allowed'],
    [list('a@x.example', 'b@x.example', 'a@x.example'), 'invalid_input 2__target_email'],
    [list('a@x.example', 'A@x.example', 'a@x.example'), 'invalid_input 1__target_email'],
  ])('case %#: %s', (invites, expected) => {
    expect(codeOf(() => assertDistinct(invites))).toBe(expected)
  })
})
