// That every attack is run, and that every hole has attacks or says what guards it. The house rules hold the table.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { OLD_FAULTS } from '../../scripts/mutate/old-faults.ts'
import { edited } from '../../scripts/mutate/put-back.ts'
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

it.each(OLD_FAULTS.map((fault) => [fault.name, fault] as const))('can be put back: %s', (_name, fault) => {
  for (const { file } of fault.edits) {
    const text = readFileSync(file, 'utf8')
    expect(edited(text, file, fault)).not.toBe(text)
  }
  const test = readFileSync(fault.test, 'utf8')
  for (const failing of fault.failing) {
    const isThere = test.includes(`'${failing}'`) || attacks.some(({ name }) => name === failing)
    expect([failing, isThere]).toEqual([failing, true])
  }
})
