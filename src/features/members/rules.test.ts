import { describe, expect, it } from 'vitest'
import { LEVELS } from '../../platform/http/caller.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { assertMayChange, assertMayGrant, assertMayRemove, assertOwnerLeft } from './rules.ts'

const { member, admin, owner } = LEVELS

/** 200 stands for "nothing against it". */
function statusOf(rule: () => void): number {
  try {
    rule()
    return 200
  } catch (error) {
    if (error instanceof ApiError) return error.status
    throw error
  }
}

describe('assertMayChange', () => {
  it.each([
    [member, member, 403],
    [member, admin, 403],
    [member, owner, 403],
    [admin, member, 200],
    [admin, admin, 200],
    [admin, owner, 403],
    [owner, member, 200],
    [owner, admin, 200],
    [owner, owner, 200],
  ] as const)('level %i changing level %i: %i', (actor, target, status) => {
    expect(statusOf(() => assertMayChange(actor, target))).toBe(status)
  })
})

describe('assertMayGrant', () => {
  it.each([
    [admin, member, 200],
    [admin, admin, 200],
    [admin, owner, 403],
    [owner, member, 200],
    [owner, admin, 200],
    [owner, owner, 200],
  ] as const)('level %i granting level %i: %i', (actor, level, status) => {
    expect(statusOf(() => assertMayGrant(actor, level, false))).toBe(status)
  })

  it.each([member, admin, owner])('nobody grants themselves anything: level %i', (level) => {
    for (const wanted of [member, admin, owner])
      expect(statusOf(() => assertMayGrant(level, wanted, true))).toBe(403)
  })
})

describe('assertMayRemove', () => {
  it.each([
    [member, member, 403],
    [member, admin, 403],
    [member, owner, 403],
    [admin, member, 200],
    [admin, admin, 200],
    [admin, owner, 403],
    [owner, member, 200],
    [owner, admin, 200],
    [owner, owner, 200],
  ] as const)('level %i removing level %i: %i', (actor, target, status) => {
    expect(statusOf(() => assertMayRemove(actor, target, false))).toBe(status)
  })

  it.each([member, admin, owner])('everybody may leave: level %i', (level) => {
    expect(statusOf(() => assertMayRemove(level, level, true))).toBe(200)
  })
})

describe('assertOwnerLeft', () => {
  it.each([
    [owner, 1, 400],
    [owner, 0, 400],
    [owner, 2, 200],
    [admin, 1, 200],
    [member, 1, 200],
  ] as const)('level %i goes, %i owners: %i', (level, owners, status) => {
    expect(statusOf(() => assertOwnerLeft(level, owners))).toBe(status)
  })
})
