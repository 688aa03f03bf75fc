// What other users of the machine get of a server that runs as root: none of its files, and no word with its PostgreSQL.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect } from 'vitest'
import { get } from '../end-to-end/http.ts'
import {
  buildProgram,
  connectionOf,
  postmasterOf,
  type Program,
  type Running,
} from '../end-to-end/program.ts'
import { attack, attackEach, type Attack } from './attack.ts'

export const isRoot = process.getuid?.() === 0
const NOBODY = isRoot ? Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })) : 0
const SOMEBODY = 12_345

/** A server that root runs, after a run with an export. */
export type RootWorld = {
  program: Program
  dataDir: string
  server: Running
  restart(between: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export async function openRootWorld(): Promise<RootWorld> {
  const program = await buildProgram()
  const dataDir = program.newDataDir()
  const { code, stderr } = await program.run(['demo', '--events', '300', '--folder', dataDir])
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('longshore demo:')])
  const world: RootWorld = {
    program,
    dataDir,
    server: program.serve({ DATA_DIR: dataDir }),
    async restart(between) {
      world.server.kill('SIGTERM')
      expect((await world.server.ended).code).toBe(0)
      await between()
      world.server = program.serve({ DATA_DIR: dataDir })
      await world.server.url
    },
    close: () => program.remove(),
  }
  await world.server.url
  return world
}

type Entry = { path: string; mode: string; uid: number }

/** Everything below the data folder, links aside: they have no mode of their own. */
async function entries(dataDir: string): Promise<Entry[]> {
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

async function openToOthers(dataDir: string): Promise<Entry[]> {
  const closed = ['folder 700', 'file 600', 'socket 700']
  return (await entries(dataDir)).filter(({ mode }) => !closed.includes(mode))
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

async function ask(dataDir: string, password: string | undefined): Promise<unknown> {
  const client = new pg.Client({ ...connectionOf(dataDir), password })
  await client.connect()
  const { rows } = await client.query('SELECT count(*)::int AS count FROM organization')
  await client.end()
  return rows[0]
}

const USERS: [string, number][] = [
  ['nobody', NOBODY],
  ['another user', SOMEBODY],
]

/** Attacks on a server that root started. */
export const attacks: Attack<RootWorld>[] = [
  attack<RootWorld>('S24', 'warns in one line that a user of its own is better', async ({ server }) => {
    const lines = server
      .stdout()
      .split('\n')
      .filter((line) => line.includes('root'))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 40,
      msg: expect.stringContaining('a user of its own'),
    })
  }),

  attack<RootWorld>(
    'S24',
    'leaves no file or folder open to others, exports included',
    async ({ dataDir }) => {
      expect(
        (await entries(dataDir)).filter(({ path }) => /^exports\/.*\.parquet/.test(path)).length,
      ).toBeGreaterThan(0)
      expect(await openToOthers(dataDir)).toEqual([])
      expect((await stat(dataDir)).mode & 0o777, 'PostgreSQL passes, and looks at nothing').toBe(0o711)
    },
  ),

  ...attackEach<RootWorld, (typeof USERS)[number]>(
    'S24',
    USERS,
    ([name]) => `${name} reads, lists, changes and signals nothing`,
    async ({ dataDir }, [, uid]) => {
      expect(as(uid, 'cat', '/etc/hostname'), 'can do anything at all').toBe('')
      expect(as(uid, 'ls', dataDir)).toContain('Permission denied')
      const all = await entries(dataDir)
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
    },
  ),

  ...attackEach<RootWorld, (typeof USERS)[number]>(
    'S24',
    USERS,
    ([name]) => `${name} does not even reach the socket`,
    async ({ dataDir }, [, uid]) => {
      const connect = `require('net').connect(process.argv[1]).on('error', (e) => { console.error(e.code); process.exit(1) }).on('connect', () => process.exit(0))`
      const socket = join(dataDir, 'run/.s.PGSQL.5432')
      expect(as(uid, process.execPath, '-e', connect, socket)).toContain('EACCES')
      expect(as(0, process.execPath, '-e', connect, socket)).toBe('')
    },
  ),

  attack<RootWorld>(
    'S24',
    'PostgreSQL runs as a user that no account has, and nobody owns none of its files',
    async ({ dataDir }) => {
      const { uid } = await stat(`/proc/${await postmasterOf(dataDir)}`)
      expect(spawnSync('id', [String(uid)]).status).toBe(1)
      expect((await entries(dataDir)).filter((entry) => ![0, uid].includes(entry.uid))).toEqual([])
    },
  ),

  attack<RootWorld>(
    'S24',
    'the socket takes the password of the file, and neither none nor another',
    async ({ dataDir, server }) => {
      await expect(ask(dataDir, 'guess')).rejects.toMatchObject({ code: '28P01' })
      await expect(ask(dataDir, '')).rejects.toThrow(/password/)
      expect(await ask(dataDir, connectionOf(dataDir).password)).toEqual({ count: 1 })
      const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8') + server.stdout()
      expect(log).not.toContain(connectionOf(dataDir).password)
    },
  ),

  attack<RootWorld>('S24', 'commands work beside it', async ({ dataDir, program }) => {
    const { code, stdout } = await program.run(['doctor'], { DATA_DIR: dataDir })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok +database/m)])
  }),

  attack<RootWorld>(
    'S24',
    'a folder from the time when all this was open is closed by the next start',
    async (world) => {
      const { dataDir } = world
      const rules = join(dataDir, 'postgres/pg_hba.conf')
      await world.restart(async () => {
        await writeFile(rules, 'local all all trust\n')
        for (const name of ['exports', 'events', 'secret.key', 'postgres.log'])
          execFileSync('chmod', ['-R', 'a+rX', join(dataDir, name)])
        for (const name of ['postgres', 'run', 'postgres.log'])
          execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(dataDir, name)])
        await chmod(dataDir, 0o755)
        expect((await openToOthers(dataDir)).length).toBeGreaterThan(0)
      })
      const { server } = world
      expect(await openToOthers(dataDir)).toEqual([])
      expect((await stat(dataDir)).mode & 0o777).toBe(0o711)
      expect((await entries(dataDir)).filter(({ uid }) => uid === NOBODY)).toEqual([])
      expect(await readFile(rules, 'utf8')).not.toContain('trust')
      await expect(ask(dataDir, 'guess')).rejects.toMatchObject({ code: '28P01' })
      expect(await ask(dataDir, connectionOf(dataDir).password)).toEqual({ count: 1 })
      expect((await get(`${await server.url}/_readyz`)).status).toBe(200)
    },
  ),
]
