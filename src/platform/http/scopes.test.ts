import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasScope, isScope, SCOPE_OBJECTS, type Scope } from './scopes.ts'

describe('isScope', () => {
  it('knows `*` and reading and writing of every object', () => {
    expect(isScope('*')).toBe(true)
    for (const object of SCOPE_OBJECTS) {
      expect(isScope(`${object}:read`)).toBe(true)
      expect(isScope(`${object}:write`)).toBe(true)
    }
  })

  it.each([
    '',
    'organization',
    'organization:',
    'organization:delete',
    'Organization:read',
    'organization:*',
    '*:read',
    'toString',
  ])('refuses %j', (text) => expect(isScope(text)).toBe(false))
})

describe('hasScope', () => {
  it.each<[string[], Scope, boolean]>([
    [['*'], 'organization:write', true],
    [['organization:read'], 'organization:read', true],
    [['organization:write'], 'organization:read', true],
    [['organization:read'], 'organization:write', false],
    [['organization:write'], 'organization_member:read', false],
    [['organization_member:write'], 'organization:read', false],
    [['plugin:read', 'organization:write'], 'organization:read', true],
    [[], 'organization:read', false],
  ])('%j for %s: %s', (held, wanted, expected) => {
    expect(hasScope(held, wanted)).toBe(expected)
  })

  it('grants nothing that was not given: the object must match', () => {
    const object = fc.constantFrom(...SCOPE_OBJECTS)
    const action = fc.constantFrom('read' as const, 'write' as const)
    fc.assert(
      fc.property(object, action, object, action, (heldObject, heldAction, object, action) => {
        const expected = heldObject === object && (heldAction === action || heldAction === 'write')
        expect(hasScope([`${heldObject}:${heldAction}`], `${object}:${action}`)).toBe(expected)
      }),
    )
  })
})
