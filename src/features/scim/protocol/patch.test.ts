// PATCH on a resource: the examples of RFC 7644 §3.5.2, what directories send, and what is refused.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/json-object.ts'
import { GROUP, USER } from './attributes.ts'
import { applyPatch } from './patch.ts'
import { ScimError } from './scim-error.ts'

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const BABS: JsonObject = {
  userName: 'bjensen',
  displayName: 'Babs Jensen',
  name: { givenName: 'Barbara', familyName: 'Jensen' },
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@jensen.org', type: 'home' },
  ],
  addresses: [{ type: 'work', streetAddress: '100 Universal City Plaza', primary: true }],
  active: true,
}
const patch = (...Operations: object[]) => applyPatch(USER, BABS, { Operations })
const emails = (...operations: object[]) => patch(...operations).emails

describe('add', () => {
  it('sets, merges and appends', () => {
    expect(patch({ op: 'add', path: 'nickName', value: 'Babs' }).nickName).toBe('Babs')
    expect(patch({ op: 'add', path: 'name', value: { middleName: 'Jane' } }).name).toEqual({
      givenName: 'Barbara',
      familyName: 'Jensen',
      middleName: 'Jane',
    })
    const added = emails({ op: 'add', path: 'emails', value: [{ value: 'x@example.com', type: 'other' }] })
    expect(added).toHaveLength(3)
    expect(
      emails({ op: 'add', path: 'emails', value: [{ value: 'babs@jensen.org', type: 'home' }] }),
    ).toHaveLength(2)
  })

  it('without a path takes each attribute of the value (RFC 7644 §3.5.2.1)', () => {
    const value = {
      emails: [{ value: 'babs@new.org', type: 'home' }],
      nickname: 'Babs',
      id: 'x',
      unheardOf: 1,
    }
    const { nickName, id, ...rest } = patch({ op: 'add', value })
    expect([nickName, id, rest]).toEqual(['Babs', undefined, expect.not.objectContaining({ unheardOf: 1 })])
    expect(rest.emails).toHaveLength(3)
  })

  it('leaves one primary value', () => {
    const value = { value: 'x@example.com', type: 'other', primary: true }
    const added = emails({ op: 'add', path: 'emails', value }) as JsonObject[]
    expect(added.filter(({ primary }) => primary === true)).toEqual([value])
  })
})

describe('replace', () => {
  it('of a value path changes what fits, and makes what Entra ID expects to be there', () => {
    expect(emails({ op: 'Replace', path: 'emails[type eq "work"].value', value: 'new@example.com' })).toEqual(
      [
        { value: 'new@example.com', type: 'work', primary: true },
        { value: 'babs@jensen.org', type: 'home' },
      ],
    )
    expect(
      patch({ op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1' }).phoneNumbers,
    ).toEqual([{ type: 'mobile', value: '+1' }])
    expect(
      patch({ op: 'replace', path: 'addresses[type eq "work"]', value: { streetAddress: '911' } }).addresses,
    ).toEqual([{ type: 'work', streetAddress: '911', primary: true }])
  })

  it('without a path takes names with dots, brackets and schemas as Entra ID sends them', () => {
    const value = {
      'name.givenName': 'Barb',
      'emails[type eq "work"].value': 'b@example.com',
      [`${ENTERPRISE}:department`]: 'IT',
      [`${ENTERPRISE}:manager`]: 'm-1',
      active: 'False',
    }
    expect(patch({ op: 'Replace', value })).toMatchObject({
      name: { givenName: 'Barb', familyName: 'Jensen' },
      emails: [{ value: 'b@example.com' }, {}],
      [ENTERPRISE]: { department: 'IT', manager: { value: 'm-1' } },
      active: false,
    })
    const whole = patch({ op: 'replace', value: { [ENTERPRISE]: { costCenter: '7' } } })
    expect(whole[ENTERPRISE]).toEqual({ costCenter: '7' })
    expect(applyPatch(USER, whole, { Operations: [{ op: 'remove', path: ENTERPRISE }] })).not.toHaveProperty(
      ENTERPRISE,
    )
  })

  it('of a whole list sets it', () => {
    expect(emails({ op: 'replace', path: 'emails', value: { value: 'only@example.com' } })).toEqual([
      { value: 'only@example.com' },
    ])
  })
})

describe('remove', () => {
  it('of attributes, parts, elements and parts of elements', () => {
    expect(patch({ op: 'remove', path: 'displayName' })).not.toHaveProperty('displayName')
    expect(patch({ op: 'remove', path: 'name.givenName' }).name).toEqual({ familyName: 'Jensen' })
    expect(emails({ op: 'remove', path: 'emails[type eq "home" and value ew "jensen.org"]' })).toHaveLength(1)
    expect(emails({ op: 'remove', path: 'emails[type eq "home"].type' })).toContainEqual({
      value: 'babs@jensen.org',
    })
    expect(patch({ op: 'remove', path: 'emails' })).not.toHaveProperty('emails')
    expect(emails({ op: 'remove', path: 'emails[type eq "nothing"]' })).toHaveLength(2)
  })

  it('of members, by filter or, as Entra ID does, by value', () => {
    const group = { displayName: 'Devs', members: ['a', 'b', 'c'].map((value) => ({ value })) }
    const left = (operation: object) => applyPatch(GROUP, group, { Operations: [operation] }).members
    expect(left({ op: 'remove', path: 'members[value eq "b"]' })).toEqual([{ value: 'a' }, { value: 'c' }])
    expect(left({ op: 'Remove', path: 'members', value: [{ value: 'a' }, { value: 'z' }] })).toEqual([
      { value: 'b' },
      { value: 'c' },
    ])
    expect(left({ op: 'remove', path: 'members' })).toBeUndefined()
  })
})

describe('refused, and the resource is as it was', () => {
  const tooLong = { op: 'add', path: 'members', value: [{ value: 'x' }] }
  it.each<[string, string, object[]]>([
    ['an unknown attribute', 'invalidPath', [{ op: 'replace', path: 'unheardOf', value: 1 }]],
    ['an unreadable path', 'invalidPath', [{ op: 'replace', path: 'emails[', value: 1 }]],
    [
      'a filter on what is no list',
      'invalidPath',
      [{ op: 'replace', path: 'name[givenName pr].x', value: 1 }],
    ],
    ['an id', 'mutability', [{ op: 'replace', path: 'id', value: 'x' }]],
    [
      'groups, which are changed at the group',
      'mutability',
      [{ op: 'add', path: 'groups', value: [{ value: 'x' }] }],
    ],
    ['removing userName', 'mutability', [{ op: 'remove', path: 'userName' }]],
    ['remove without a path', 'noTarget', [{ op: 'remove' }]],
    [
      'an element that no filter describes',
      'noTarget',
      [{ op: 'replace', path: 'emails[value co "nowhere"].type', value: 'y' }],
    ],
    ['a value of the wrong type', 'invalidValue', [{ op: 'replace', path: 'active', value: 'maybe' }]],
    ['no object without a path', 'invalidValue', [{ op: 'add', value: 'x' }]],
    ['an unknown operation', 'invalidSyntax', [{ op: 'move', path: 'title' }]],
    ['no operations', 'invalidSyntax', []],
    [
      'too many operations',
      'invalidValue',
      Array.from({ length: 1001 }, () => ({ op: 'remove', path: 'title' })),
    ],
  ])('%s', (_name, scim_type, Operations) => {
    const before = structuredClone(BABS)
    expect(() => applyPatch(USER, BABS, { Operations })).toThrow(expect.objectContaining({ scim_type }))
    expect(BABS).toEqual(before)
  })

  it('a thousand operations on a list of thousands', () => {
    const group = {
      displayName: 'All',
      members: Array.from({ length: 20_000 }, (_, at) => ({ value: `${at}` })),
    }
    const began = performance.now()
    expect(() =>
      applyPatch(GROUP, group, { Operations: Array.from({ length: 1_000 }, () => tooLong) }),
    ).toThrow(ScimError)
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})
