// What must not be there once nothing is at work: half of anything.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind, Places } from './places.ts'

const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 100

/** Verifications go on, and a database needs a moment to see that a client has died: what they have comes and goes. */
export async function listLeftovers(places: Places, dataDir: string): Promise<string[]> {
  const deadline = Date.now() + PATIENCE_MS
  let left = await listHalves(places, dataDir)
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(LOOK_EVERY_MS)
    const there = new Set(await listHalves(places, dataDir))
    left = left.filter((each) => there.has(each))
  }
  return left
}

async function listHalves({ folder, bucket, warehouse }: Places, dataDir: string): Promise<string[]> {
  const temporary = (await namesIn(folder, true)).filter((name) => /(^|\/)\.|\.partial$/.test(name))
  const staged = await namesIn(join(dataDir, 'events/staging'), false)
  const uploads = [...bucket.uploads.values()].map(({ key }) => key)
  const { admin, login } = warehouse
  const { rows: tables } = await admin.query<{ relname: string }>(
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND (relpersistence = 't' OR relname LIKE '%stage%')`,
  )
  // A verification of a large table is at one statement for minutes where others take the processors.
  const { rows: sessions } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE usename = $1 AND (state <> 'active' OR query_start < now() - interval '15 minutes')`,
    [login.user],
  )
  return [
    ...temporary.map((name) => `the temporary file ${name}`),
    ...staged.map((name) => `the staged file ${name}`),
    ...uploads.map((key) => `an open upload of ${key}`),
    ...tables.map(({ relname }) => `the table ${relname}`),
    ...sessions.map(({ pid }) => `the session ${pid} in the warehouse`),
  ]
}

export async function listNames({ folder, bucket }: Places, kind: Kind): Promise<string[]> {
  return kind === 'bucket' ? [...bucket.objects.keys()] : namesIn(folder, true)
}

/** Files that nobody knows of. */
export async function listUnknownFiles(places: Places, known: ReadonlySet<string>): Promise<string[]> {
  const names = [...(await listNames(places, 'folder')), ...(await listNames(places, 'bucket'))]
  return names.filter((name) => !known.has(name))
}

async function namesIn(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
