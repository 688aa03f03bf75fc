// What other users of the machine get of a server that runs as root: none of its files, and no word with its PostgreSQL.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get } from '../end-to-end/http.ts'
import {
  buildProgram,
  connectionOf,
  postmasterOf,
  type Program,
  type Running,
} from '../end-to-end/program.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = isRoot ? Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })) : 0
const SOMEBODY = 12_345

let program: Program
let dataDir: string
let server: Running

/** After a run with an export, and while the server runs. */
async function start(): Promise<void> {
  server = program.serve({ DATA_DIR: dataDir })
  await server.url
}

async function stop(): Promise<void> {
  server.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
}

beforeAll(async () => {
  program = await buildProgram()
  dataDir = program.newDataDir()
  const { code, stderr } = await program.run(['demo', '--events', '300', '--folder', dataDir])
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('longshore demo:')])
  await start()
}, 120_000)
afterAll(() => program.remove())

type Entry = { path: string; mode: string; uid: number }

/** Everything below the data folder, links aside: they have no mode of their own. */
async function entries(): Promise<Entry[]> {
  const names = await readdir(dataDir, { recursive: true })
  const found = await Promise.all(
    names.map(async (path) => {
      // PostgreSQL makes and removes files all the time.
      const facts = await lstat(join(dataDir, path)).catch(() => null)
      if (!facts || facts.isSymbolicLink()) return []
      const kind = facts.isDirectory() ? 'folder' : facts.isSocket() ? 'socket' : 'file'
      return [{ path, mode: `${kind} ${(facts.mode & 0o777).toString(8)}`, uid: facts.uid }]
    }),
  )
  return found.flat()
}

async function openToOthers(): Promise<Entry[]> {
  const closed = ['folder 700', 'file 600', 'socket 700']
  return (await entries()).filter(({ mode }) => !closed.includes(mode))
}

/** Runs a command as another user; its error output, '' when it succeeded. */
function as(uid: number, command: string, ...args: string[]): string {
  const identity = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']
  const { status, stderr } = spawnSync('setpriv', [...identity, command, ...args], {
    encoding: 'utf8',
    cwd: '/',
  })
  return status === 0 ? '' : stderr || `status ${status}`
}

async function ask(password: string | undefined): Promise<unknown> {
  const client = new pg.Client({ ...connectionOf(dataDir), password })
  await client.connect()
  const { rows } = await client.query('SELECT count(*)::int AS count FROM organization')
  await client.end()
  return rows[0]
}

describe.skipIf(!isRoot)('a server that root started (needs root)', () => {
  test('warns in one line that a user of its own is better', () => {
    const lines = server
      .stdout()
      .split('\n')
      .filter((line) => line.includes('root'))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 40,
      msg: expect.stringContaining('a user of its own'),
    })
  })

  test('leaves no file or folder open to others, exports included', async () => {
    expect((await entries()).filter(({ path }) => /^exports\/.*\.parquet/.test(path)).length).toBeGreaterThan(
      0,
    )
    expect(await openToOthers()).toEqual([])
    expect((await stat(dataDir)).mode & 0o777, 'PostgreSQL passes, and looks at nothing').toBe(0o711)
  })

  test.each([
    ['nobody', NOBODY],
    ['another user', SOMEBODY],
  ])('%s reads, lists, changes and signals nothing', async (_name, uid) => {
    expect(as(uid, 'cat', '/etc/hostname'), 'can do anything at all').toBe('')
    expect(as(uid, 'ls', dataDir)).toContain('Permission denied')
    const all = await entries()
    const read = all.filter(({ mode }) => mode.startsWith('file'))
    const told = as(
      uid,
      'sh',
      '-c',
      'for file; do cat "$file" >/dev/null 2>&1 && echo "$file" >&2; done; false',
      'sh',
      ...read.map(({ path }) => join(dataDir, path)),
    )
    expect(told).toBe('status 1')
    expect(as(uid, 'sh', '-c', 'echo > "$0"', join(dataDir, 'postgres/pg_hba.conf'))).toContain('denied')
    expect(as(uid, 'kill', '-HUP', String(await postmasterOf(dataDir)))).toContain('not permitted')
  })

  test.each([
    ['nobody', NOBODY],
    ['another user', SOMEBODY],
  ])('%s does not even reach the socket', (_name, uid) => {
    const connect = `require('net').connect(process.argv[1]).on('error', (e) => { console.error(e.code); process.exit(1) }).on('connect', () => process.exit(0))`
    const socket = join(dataDir, 'run/.s.PGSQL.5432')
    expect(as(uid, process.execPath, '-e', connect, socket)).toContain('EACCES')
    expect(as(0, process.execPath, '-e', connect, socket)).toBe('')
  })

  test('PostgreSQL runs as a user that no account has, and nobody owns none of its files', async () => {
    const { uid } = await stat(`/proc/${await postmasterOf(dataDir)}`)
    expect(spawnSync('id', [String(uid)]).status).toBe(1)
    expect((await entries()).filter((entry) => ![0, uid].includes(entry.uid))).toEqual([])
  })

  test('the socket takes the password of the file, and neither none nor another', async () => {
    await expect(ask('guess')).rejects.toMatchObject({ code: '28P01' })
    await expect(ask('')).rejects.toThrow(/password/)
    expect(await ask(connectionOf(dataDir).password)).toEqual({ count: 1 })
    const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8') + server.stdout()
    expect(log).not.toContain(connectionOf(dataDir).password)
  })

  test('commands work beside it', async () => {
    const { code, stdout } = await program.run(['doctor'], { DATA_DIR: dataDir })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok +database/m)])
  })

  test('a folder from the time when all this was open is closed by the next start', async () => {
    await stop()
    const rules = join(dataDir, 'postgres/pg_hba.conf')
    await writeFile(rules, 'local all all trust\n')
    for (const name of ['exports', 'events', 'secret.key', 'postgres.log'])
      execFileSync('chmod', ['-R', 'a+rX', join(dataDir, name)])
    for (const name of ['postgres', 'run', 'postgres.log'])
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(dataDir, name)])
    await chmod(dataDir, 0o755)
    expect((await openToOthers()).length).toBeGreaterThan(0)

    await start()
    expect(await openToOthers()).toEqual([])
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711)
    expect((await entries()).filter(({ uid }) => uid === NOBODY)).toEqual([])
    expect(await readFile(rules, 'utf8')).not.toContain('trust')
    await expect(ask('guess')).rejects.toMatchObject({ code: '28P01' })
    expect(await ask(connectionOf(dataDir).password)).toEqual({ count: 1 })
    expect((await get(`${await server.url}/_readyz`)).status).toBe(200)
  })
})
