import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accessOf, otherScopes, SCOPE_KINDS, scopesText, withAccess } from './scopes'

it('the grid has every scope that the API asks for, and no other', () => {
  const document = readFileSync('docs/openapi.json', 'utf8')
  const asked = new Set([...document.matchAll(/`([a-z_]+:(?:read|write))`/g)].map(([, scope]) => scope!))
  const offered = SCOPE_KINDS.flatMap(({ object, canWrite }) => [
    `${object}:read`,
    ...(canWrite ? [`${object}:write`] : []),
  ])
  expect([...asked].filter((scope) => !offered.includes(scope))).toEqual([])
  expect(offered.filter((scope) => !asked.has(scope))).toEqual([])
})

describe('access', () => {
  it('writing includes reading, and `*` is everything', () => {
    expect(accessOf(['project:write'], 'project')).toBe('write')
    expect(accessOf(['project:read'], 'project')).toBe('read')
    expect(accessOf(['project:read'], 'plugin')).toBe('none')
    expect(accessOf(['*'], 'plugin')).toBe('write')
  })

  it('changes one kind and keeps the others, also those without a line', () => {
    const scopes = ['insight:read', 'project:write', 'organization_member:read']
    expect(withAccess(scopes, 'project', 'read')).toEqual([
      'insight:read',
      'organization_member:read',
      'project:read',
    ])
    expect(withAccess(scopes, 'organization', 'write')).toEqual([...scopes, 'organization:write'])
    expect(withAccess(scopes, 'project', 'none')).toEqual(['insight:read', 'organization_member:read'])
    expect(otherScopes([...scopes, '*'])).toEqual(['insight:read'])
  })

  it('is told in a few words', () => {
    expect(scopesText(['*'])).toBe('everything')
    expect(scopesText(['query:read'])).toBe('query:read')
    expect(scopesText(['query:read', 'person:read'])).toBe('2 kinds of things, read only')
    expect(scopesText(['query:read', 'project:write'])).toBe('2 kinds of things, 1 to change')
  })
})
