// That every attack is run, and that every hole has attacks or says what guards it. The house rules hold the table.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { HOLES } from './holes.ts'
import { SUITES } from './suites.ts'

const attacks = Object.values(SUITES).flatMap(({ attacks: own }) =>
  own.map(({ hole, name }) => ({ hole, name })),
)

it('every suite has a test file', () => {
  for (const name of Object.keys(SUITES))
    expect([name, existsSync(join(import.meta.dirname, `${name}.test.ts`))]).toEqual([name, true])
})

it('every hole has attacks, or something else that guards it', () => {
  for (const { id, guard } of HOLES)
    expect([id, guard === undefined ? attacks.some(({ hole }) => hole === id) : true]).toEqual([id, true])
  const known = new Set<string>(HOLES.map(({ id }) => id))
  expect(attacks.filter(({ hole }) => !known.has(hole))).toEqual([])
})

it('no two attacks on a hole have one name', () => {
  const names = attacks.map(({ hole, name }) => `${hole} ${name}`)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})
