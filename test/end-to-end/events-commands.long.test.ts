// `events import` and `events generate` from outside: alone on the stores, beside a running server, to one elsewhere, and
// killed in the middle.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDuckDb } from '../../src/platform/event-store/duckdb/open.ts'
import { tablesOf } from '../../src/platform/event-store/layout.ts'
import { readFirstStart, type Printed } from './first-start.ts'
import { get, post } from './http.ts'
import { buildProgram, postmasterOf, type Env, type Program, type Running } from './program.ts'

let program: Program
let dataDir = ''
let first: Printed
let env: Env = {}
let files = 0
beforeAll(async () => {
  program = await buildProgram()
  dataDir = program.newDataDir()
  env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const server = program.serve(env)
  first = await readFirstStart(server)
  await stop(server)
})
afterAll(() => program.remove())

async function stop(server: Running): Promise<void> {
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

const run = (args: readonly string[], more: Env = {}) => program.run(['events', ...args], { ...env, ...more })
const newPath = (ending: string) => join(dirname(dataDir), `import${++files}${ending}`)
/** A slow machine is told how far it is. */
const WELL = { code: 0, stderr: expect.stringMatching(/^(?:[\w.]+: \d+ %, .+\n)*$/) as string }
const lineOf = (fields: object) => JSON.stringify({ event: 'imported', distinct_id: 'ada', ...fields })

/** Events without ids of their own. */
async function writeLines(count: number, name: string): Promise<string> {
  const path = newPath('.jsonl')
  const lines = Array.from({ length: count }, (_, index) =>
    lineOf({ event: name, timestamp: '2025-05-06T07:08:09Z', properties: { index, pad: 'x'.repeat(300) } }),
  )
  await writeFile(path, `${lines.join('\n')}\n`)
  return path
}

type Counted = { all: number; distinct: number; events: number }

/** Straight from the store, while nobody holds it. */
async function stored(name: string): Promise<Counted & { ips: number }> {
  const store = await openDuckDb({
    folder: join(dataDir, 'events'),
    memory_mb: 256,
    query_timeout_ms: 60_000,
  })
  const { rows } = await store.query({
    project_id: 1,
    sql: `SELECT count(*)::INT, count(DISTINCT uuid)::INT, count(DISTINCT properties->>'index')::INT,
       count(properties->>'$."$ip"')::INT FROM ${tablesOf(1).events} WHERE event = $1`,
    parameters: [name],
    timezone: 'UTC',
    max_rows: 1,
  })
  await store.close()
  const [[all, distinct, events, ips]] = rows as [number[]]
  return { all: all!, distinct: distinct!, events: events!, ips: ips! }
}

/** The number that the table of the answer shows. */
const shown = (stdout: string, name: string) =>
  Number(new RegExp(`^${name} +([\\d,]+)$`, 'm').exec(stdout)?.[1]?.replaceAll(',', '') ?? NaN)

describe('help', () => {
  test('lists both with what they do', async () => {
    const { code, stdout } = await program.run(['events', '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}import .*file/m)
    expect(stdout).toMatch(/^ {2}generate .*sample/m)
    expect((await program.run(['--help'])).stdout).toMatch(/^ {2}events .*\w{3,}/m)
  })
})

describe('without a server', () => {
  test('import: everything stored, bad lines kept aside, nothing left running; again: nothing to do', async () => {
    const path = newPath('.jsonl.gz')
    const lines = [
      lineOf({ event: 'alone', properties: { index: 1 } }),
      'bad',
      lineOf({ event: 'alone', properties: { index: 2 } }),
    ]
    await writeFile(path, gzipSync(lines.join('\n')))
    const ended = await run(['import', path])
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/^rows read +3\nstored +2\nalready there +0\nkept aside +1\nrows\/s +\d+\n$/)
    expect(ended.stderr).toMatch(/1 row kept aside in .*\.rejects\.jsonl\n {2}line 2: the line is not JSON/)
    expect(await readFile(`${path}.rejects.jsonl`, 'utf8')).toMatch(
      /^\{"line":2,"reason":"[^\n]+","text":"bad"\}\n$/,
    )
    expect(await stored('alone')).toMatchObject({ all: 2, distinct: 2, ips: 0 })
    expect(await postmasterOf(dataDir)).toBeNull()

    const again = await run(['import', path])
    expect(again.code).toBe(1)
    expect(again.stderr).toMatch(/imported before \(3 rows, 1 kept aside in/)
    expect(shown(again.stdout, 'rows read')).toBe(0)

    const restarted = await run(['import', path, '--restart'])
    expect(shown(restarted.stdout, 'already there')).toBe(2)
    expect(await stored('alone')).toMatchObject({ all: 2 })
    expect((await readFile(`${path}.rejects.jsonl`, 'utf8')).trim().split('\n')).toHaveLength(1)
  })

  test('several files at once, of several formats', async () => {
    const csv = newPath('.csv')
    await writeFile(csv, 'event,distinct_id,properties\nseveral,ada,"{""index"":1}"\n')
    const jsonl = newPath('.jsonl')
    await writeFile(jsonl, `${lineOf({ event: 'several', properties: { index: 2 } })}\n`)
    const ended = await run(['import', csv, jsonl])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(await stored('several')).toMatchObject({ all: 2, events: 2 })
  })

  test('--dry-run counts and changes nothing', async () => {
    const path = newPath('.jsonl')
    await writeFile(path, `${lineOf({ event: 'dry' })}\n{}\n`)
    const ended = await run(['import', path, '--dry-run'])
    expect(ended.code).toBe(1)
    expect([shown(ended.stdout, 'can be used'), shown(ended.stdout, 'kept aside')]).toEqual([1, 1])
    await expect(readFile(`${path}.progress.json`)).rejects.toThrow('ENOENT')
    await expect(readFile(`${path}.rejects.jsonl`)).rejects.toThrow('ENOENT')
    expect(await stored('dry')).toMatchObject({ all: 0 })
  })

  test('asked to stop: ends in order, and the next run goes on', async () => {
    const count = 40_000
    const path = await writeLines(count, 'stopped')
    const child = startImport(path)
    while (!(await readFile(`${path}.progress.json`, 'utf8').catch(() => '')).includes('000')) await sleep(5)
    child.kill('SIGINT')
    const [code] = (await once(child, 'close')) as [number]
    expect(code).toBe(1)
    expect(await postmasterOf(dataDir)).toBeNull()
    expect((await run(['import', path])).code).toBe(0)
    expect(await stored('stopped')).toMatchObject({ all: count, events: count })
  })

  test('killed twice in the middle: each event is there exactly once', async () => {
    const count = 60_000
    const path = await writeLines(count, 'killed')
    const rowsDone = async () =>
      (
        JSON.parse(await readFile(`${path}.progress.json`, 'utf8').catch(() => '{"rows":0}')) as {
          rows: number
        }
      ).rows
    const done: number[] = []
    for (let kill = 0; kill < 2; kill += 1) {
      const before = await rowsDone()
      const child = startImport(path)
      while ((await rowsDone()) < before + 6000 && child.exitCode === null) await sleep(5)
      child.kill('SIGKILL')
      await once(child, 'close')
      done.push(await rowsDone())
    }
    expect(done[0]).toBeGreaterThanOrEqual(6000)
    expect(done[1]).toBeGreaterThanOrEqual(done[0]! + 6000)
    expect(done[1]).toBeLessThan(count)
    const ended = await run(['import', path])
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain(`continuing after row ${done[1]!.toLocaleString('en')}`)
    expect(shown(ended.stdout, 'rows read')).toBe(count - done[1]!)
    expect(await stored('killed')).toMatchObject({ all: count, distinct: count, events: count })
  })

  test('a file that has changed is not gone on with', async () => {
    const path = newPath('.jsonl')
    await writeFile(path, `${lineOf({ event: 'changed' })}\n`)
    expect((await run(['import', path])).code).toBe(0)
    await writeFile(path, `${lineOf({ event: 'changed' })}\n${lineOf({ event: 'changed' })}\n`)
    const ended = await run(['import', path])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/has changed since its import began: --restart starts from the beginning/)
    expect(await stored('changed')).toMatchObject({ all: 1 })
  })

  test('generate: as many as asked for, with persons', async () => {
    const ended = await run(['generate', '--count', '5000', '--seed', '7', '--days', '10'])
    expect(ended).toMatchObject(WELL)
    expect([shown(ended.stdout, 'generated'), shown(ended.stdout, 'stored')]).toEqual([5000, 5000])
    expect(shown(ended.stdout, 'seed')).toBe(7)
    expect((await stored('$pageview')).all).toBeGreaterThan(1000)
  })

  test.each([
    [['import'], /missing required argument 'file'/],
    [['import', '/nowhere.jsonl'], /there is no file \/nowhere\.jsonl/],
    [['import', 'package.json', '--project', '99'], /there is no project 99:\n {2}1 {2}Default project/],
    [['import', 'package.json', '--token', 'phc_x'], /--token needs --url/],
    [['import', 'package.json', 'package.json', '--rejects', 'x'], /--rejects works with one file only/],
    [['generate'], /required option '--count/],
    [['generate', '--count', '100000001'], /--count takes a number from 1 to 100000000/],
    [['generate', '--count', '1e3'], /--count takes a number/],
    [['generate', '--count', '10', '--days', '0'], /--days takes a number from 1 to 3650/],
    [['generate', '--count', '10', '--users', '11'], /--users takes a number from 1 to 10/],
  ])('%j: says what is wrong, exit 1', async (args, message) => {
    const ended = await run(args)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(message)
    expect(ended.stdout).toBe('')
  })

  test('on a folder without a project', async () => {
    const ended = await run(['generate', '--count', '10'], { DATA_DIR: program.newDataDir() })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/there is no project yet: start the server once/)
  })
})

describe('beside a running server', () => {
  let server: Running
  let url = ''
  beforeAll(async () => {
    server = program.serve(env)
    url = await server.url
  })

  test('import goes through it', async () => {
    const path = await writeLines(5000, 'through')
    const ended = await run(['import', path], { PORT: new URL(url).port })
    expect(ended).toMatchObject(WELL)
    expect(ended.stdout).toMatch(/^rows read +5,000\naccepted +5,000\nkept aside +0\n/)
  })

  test('SITE_URL says where it is', async () => {
    const ended = await run(['generate', '--count', '300'], { SITE_URL: url, PORT: '1' })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
  })

  test('a server that is not where the settings say: told at once', async () => {
    const path = await writeLines(10, 'nowhere')
    const ended = await run(['import', path], { PORT: '1' })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(
      /holds the event store, but no server answers at http:\/\/127\.0\.0\.1:1: give its address with --url/,
    )
  })

  test('--url and --token reach it without a data folder', async () => {
    const path = await writeLines(20, 'remote')
    const nothing = program.newDataDir()
    const ended = await run(['import', path, '--url', `${url}/`, '--token', first.token], {
      DATA_DIR: nothing,
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    await expect(readFile(nothing)).rejects.toThrow('ENOENT')
  })

  test('a wrong token stops the import; the file can be taken up with the right one', async () => {
    const path = await writeLines(20, 'token')
    const ended = await run(['import', path, '--url', url, '--token', 'phc_wrong'])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/answers 401/)
    expect(await run(['import', path, '--url', url, '--token', first.token])).toMatchObject({
      code: 0,
      stderr: '',
    })
    const other = await run(['import', path, '--url', url, '--token', 'phc_wrong'])
    expect(other.code).toBe(1)
    expect(other.stderr).toMatch(
      /was imported into another project so far: --restart starts from the beginning/,
    )
  })

  test('several projects: one has to be named', async () => {
    const made = await post(`${url}/api/projects/`, { name: 'Second' }, { key: first.key })
    expect(made.status).toBe(201)
    const ended = await run(['generate', '--count', '10'], { PORT: new URL(url).port })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(
      /there are several projects: name one with --project:\n {2}1 {2}Default project\n {2}\d+ {2}Second/,
    )
    const named = await run(['generate', '--count', '10', '--project', String(made.body.id)], {
      PORT: new URL(url).port,
    })
    expect(named.code).toBe(0)
  })

  test('after all that the server is unharmed, and everything is stored once', async () => {
    expect((await get(`${url}/_readyz`)).status).toBe(200)
    await stop(server)
    expect(await stored('through')).toMatchObject({ all: 5000, distinct: 5000, events: 5000 })
    expect(await stored('remote')).toMatchObject({ all: 20 })
    expect(await stored('token')).toMatchObject({ all: 20 })
    expect(await stored('nowhere')).toMatchObject({ all: 0 })
  })
})

/** A run that can be sent signals. */
function startImport(path: string) {
  const main = join(dirname(dataDir), 'bin/longshore.cjs')
  return spawn(process.execPath, [main, 'events', 'import', path], {
    env: { PATH: process.env.PATH ?? '', HOME: dirname(dataDir), ...env },
    cwd: dirname(dataDir),
    stdio: 'ignore',
  })
}
