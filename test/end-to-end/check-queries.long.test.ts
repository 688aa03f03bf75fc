// `longshore check-queries` from outside: what it prints, and what it ends with. No store is there, and none is made.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildProgram, type Program } from './program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
  await writeFile(join(program.root, 'good.sql'), 'select 1; select uniq(event) from events')
  await writeFile(join(program.root, 'bad.sql'), 'select evnt from events')
})
afterAll(() => program.remove())

test('0 when all run, also otherwise than in PostHog', async () => {
  const DATA_DIR = program.newDataDir()
  const { code, stdout, stderr } = await program.run(['check-queries', 'good.sql'], { DATA_DIR })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(`runs     good.sql:1:1
differs  good.sql:1:11: uniq counts exactly; PostHog estimates
2 queries: 1 run, 1 differ, 0 fail
`)
  expect(existsSync(DATA_DIR)).toBe(false)
})

test('1 when one fails, with the reason and the place', async () => {
  const { code, stdout } = await program.run(['check-queries', 'good.sql', 'bad.sql'])
  expect(code).toBe(1)
  expect(stdout).toContain(
    "FAILS    bad.sql:1:8: Unknown field 'evnt'. Did you mean 'event'?\n3 queries: 1 run, 1 differ, 1 fail",
  )
})

test('--json for programs', async () => {
  const { code, stdout } = await program.run(['check-queries', '--json', 'bad.sql'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toEqual({
    queries: [
      {
        file: 'bad.sql',
        name: null,
        line: 1,
        column: 8,
        state: 'fails',
        details: ["Unknown field 'evnt'. Did you mean 'event'?"],
      },
    ],
    summary: { queries: 1, runs: 0, differs: 0, fails: 1 },
  })
})

test('a file that is not there, and none at all', async () => {
  const { code, stdout, stderr } = await program.run(['check-queries', 'none.sql'])
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: 'longshore check-queries: none.sql cannot be read: ENOENT\n',
  })
  expect((await program.run(['check-queries'])).code).toBe(1)
})
