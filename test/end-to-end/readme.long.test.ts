// The README's commands, run as they stand and in their order by one shell: only the port differs, because 8000 may be
// taken. Variables are those that the lines set.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { readFirstStart, type Printed } from './first-start.ts'
import { buildProgram, type Program, type Running } from './program.ts'

const README = join(import.meta.dirname, '../../README.md')
const ADDRESS = 'http://127.0.0.1:8000'
/** Blocks that other tests run: a checkout's own installation, and a demo with a million events. */
const ELSEWHERE = /^npm ci && (npm start|npm test|npx longshore demo)\n$/
const MINUTE_MS = 60_000
const EVENTS = 20_000

let program: Program
let server: Running
let first: Printed
let blocks: string[]
let outputs: string[]
let exported_ms: number

beforeAll(async () => {
  const text = await readFile(README, 'utf8')
  blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, lines]) => lines!)
  program = await buildProgram()
  const { HOST, PORT } = readConfig({})
  expect(`http://${HOST}:${PORT}`).toBe(ADDRESS)
  // In the folder that the README's commands look in.
  server = program.serve({ DATA_DIR: join(program.root, 'data') })
  first = await readFirstStart(server)
  outputs = await runAll(blocks.filter((block) => !ELSEWHERE.test(block)))
}, 300_000)
afterAll(() => program.remove())

/** What each block has printed. The shell ends at the first command that fails. */
async function runAll(scripts: readonly string[]): Promise<string[]> {
  const mark = '--- end of a block ---'
  const script = [
    'set -eu',
    ...scripts.map((lines) => `${lines.replaceAll(ADDRESS, first.url)}\necho '${mark}'`),
  ]
  const shell = spawn('/bin/sh', ['-c', script.join('\n')], {
    cwd: program.root,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: program.root,
      PORT: new URL(first.url).port,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const began: number[] = [Date.now()]
  shell.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    while (began.length < stdout.split(mark).length) began.push(Date.now())
  })
  shell.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(shell, 'close')) as [number]
  const printed = stdout.split(`${mark}\n`)
  expect({ code, stderr, blocks: printed.length - 1 }).toMatchObject({ code: 0, blocks: scripts.length })
  const exporting = scripts.findIndex((lines) => lines.includes('longshore export'))
  exported_ms = began[exporting + 1]! - began[exporting]!
  return printed.slice(0, -1)
}

const outputOf = (part: string) => {
  const run = blocks.filter((block) => !ELSEWHERE.test(block))
  return outputs[run.findIndex((block) => block.includes(part))]!
}
const rowsIn = (table: string) => Number(/^rows +([\d,]+)$/m.exec(table)?.[1]?.replaceAll(',', ''))
const jsonOf = (part: string) => JSON.parse(outputOf(part)) as Record<string, unknown>

describe('what the commands print', () => {
  test('the query has rows', () => {
    const { results } = jsonOf('HogQLQuery') as { results: unknown[][] }
    expect(results.length).toBeGreaterThan(1)
  })

  test('the export has rows within a minute, in files that are where the README looks', () => {
    const output = outputOf('longshore export')
    expect(rowsIn(output)).toBeGreaterThan(10_000)
    expect(output).toMatch(/^data\/exports\/1\/events\/\d{4}\/\d{2}\/\S+\.parquet\.zst$/m)
    expect(exported_ms).toBeLessThan(MINUTE_MS)
  })

  test('every event is accounted for, and what was delivered is read back', () => {
    const output = outputOf('/reconciliation/')
    const [reconciliation, status, table] = output.split(/(?<=\})(?=\{|\w)/)
    const exported = rowsIn(outputOf('longshore export'))
    // Those of today are due at midnight.
    expect(JSON.parse(reconciliation!)).toMatchObject({
      totals: { received: EVENTS, exported, pending: EVENTS - exported, skipped: 0, filtered_out: 0 },
    })
    expect(JSON.parse(status!)).toMatchObject({ results: [{ name: 'Daily' }] })
    expect(table).toMatch(/^exports +1\n/)
    expect(rowsIn(table!)).toBe(exported)
    expect(table).toMatch(/^problems +0$/m)
  })

  test('the backfill is begun, the app is switched on', () => {
    expect(jsonOf('/backfill/')).toMatchObject({ backfill_id: expect.any(String) })
    expect(outputOf('plugin_configs')).toContain('"enabled":true')
  })

  test('the invite answers with a link that opens', async () => {
    const link = outputOf('/invites/').trim()
    expect(link.startsWith(`${first.url}/`)).toBe(true)
    expect((await fetch(link)).status).toBe(200)
  })

  test('keys: the service key is shown, and the own key may do everything', () => {
    expect(outputOf('/service_keys/')).toMatch(/"value":"lsk_\w{40,}"/)
    expect(jsonOf('personal_api_keys')).toMatchObject({ scopes: ['*'] })
  })
})
