// What must not be there once nothing is at work: half of anything.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind, Places } from './places.ts'

const SESSIONS_LIMIT_MS = 5_000

export async function listLeftovers(
  { folder, bucket, warehouse }: Places,
  dataDir: string,
): Promise<string[]> {
  const temporary = (await namesIn(folder, true)).filter((name) => /(^|\/)\.|\.partial$/.test(name))
  const staged = await namesIn(join(dataDir, 'events/staging'), false)
  const uploads = [...bucket.uploads.values()].map(({ key }) => key)
  const { rows: tables } = await warehouse.admin.query<{ relname: string }>(
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND (relpersistence = 't' OR relname LIKE '%stage%')`,
  )
  return [
    ...temporary.map((name) => `the temporary file ${name}`),
    ...staged.map((name) => `the staged file ${name}`),
    ...uploads.map((key) => `an open upload of ${key}`),
    ...tables.map(({ relname }) => `the table ${relname}`),
    ...(await listSessions(warehouse, Date.now() + SESSIONS_LIMIT_MS)),
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

/** The database needs a moment to see that a client has died. */
async function listSessions({ admin, login }: Places['warehouse'], deadline: number): Promise<string[]> {
  for (;;) {
    const { rows } = await admin.query<{ state: string }>(
      'SELECT state FROM pg_stat_activity WHERE usename = $1',
      [login.user],
    )
    if (rows.length === 0) return []
    if (Date.now() > deadline) return rows.map(({ state }) => `a session in the warehouse, ${state}`)
    await sleep(20)
  }
}

async function namesIn(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
