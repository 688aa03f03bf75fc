// The table that events are exported to, asked by uuid.
import type pg from 'pg'
import type { Ledger } from './ledger.ts'

type Fault = (text: string) => void

/** Once the first run has made the table; it is no key, so that a row can be there twice. */
export async function indexTable(admin: pg.Pool): Promise<void> {
  const { rows } = await admin.query(`SELECT to_regclass('public.events') AS found`)
  if (rows[0].found === null) return
  await admin.query('CREATE INDEX IF NOT EXISTS events_by_uuid ON public.events (uuid)')
}

/** Whatever is promised is there once. */
export async function expectPromisedRows(admin: pg.Pool, ledger: Ledger, fault: Fault): Promise<void> {
  const uuids = [...new Set(ledger.promised)]
  if (uuids.length === 0) return
  const { rows } = await admin.query<{ found: number; repeated: number }>(
    `SELECT count(*)::int AS found, count(*) FILTER (WHERE count > 1)::int AS repeated
     FROM (SELECT uuid, count(*) FROM public.events WHERE uuid = ANY($1) GROUP BY uuid) AS counted`,
    [uuids],
  )
  const { found, repeated } = rows[0]!
  if (found < uuids.length) fault(`Postgres: ${uuids.length - found} acknowledged events are missing`)
  if (repeated > 0) fault(`Postgres: ${repeated} events are there more than once`)
}

/** All there is: each once, and nothing that was never sent. */
export async function expectWholeTable(admin: pg.Pool, ledger: Ledger, fault: Fault): Promise<number> {
  const { rows } = await admin.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM public.events GROUP BY uuid',
  )
  const repeated = rows.filter(({ count }) => count > 1).length
  const unknown = rows.filter(({ uuid }) => !ledger.has(uuid)).length
  if (repeated > 0) fault(`Postgres: at the end ${repeated} events are there more than once`)
  if (unknown > 0) fault(`Postgres: at the end ${unknown} events are there that were never sent`)
  return rows.length
}
