// The table beside the data that says which runs are in it. Written in the transaction that brings the rows, so that an
// attempt whose commit was never acknowledged is recognised by the next one.
import type { RunFacts } from '../destination.ts'
import { sqlstateOf } from './failures.ts'
import { qualified, type TableName } from './identifiers.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import type { Session } from './session.ts'
import { ensureTable } from './table.ts'

// `disjoint`: when it was written, the table held nothing but runs of this one export, which never share an event.
const DEFINITION = `
  "run_id" VARCHAR(36) PRIMARY KEY,
  "batch_export_id" VARCHAR(36) NOT NULL,
  "table_name" VARCHAR(127) NOT NULL,
  "data_interval_start" TIMESTAMPTZ,
  "data_interval_end" TIMESTAMPTZ NOT NULL,
  "rows" BIGINT NOT NULL,
  "disjoint" BOOLEAN NOT NULL,
  "finished_at" TIMESTAMPTZ NOT NULL`

const LACKS_RIGHTS = '42501'

export type Ledger = {
  /** Qualified and quoted. */
  name: string
  /** Rows of the run, when it is in the table, by whichever name of the server it came; null otherwise. */
  find(run: RunFacts): Promise<number | null>
  /** Whether all that was brought to the table, and something was, came by other runs of this export. */
  holdsOnly(run: RunFacts): Promise<boolean>
}

/** Null where it is not there and we may not make it, or may not use the one that is there. */
export async function openLedger(session: Session, { schema, table }: TableName): Promise<Ledger | null> {
  const place = { schema, table: LEDGER_TABLE }
  try {
    await ensureTable(session, place, { body: DEFINITION })
  } catch (error) {
    if (sqlstateOf(error) === LACKS_RIGHTS) return null
    throw error
  }
  const [rights] = await session.rows<{ usable: boolean }>(
    `SELECT has_table_privilege($1, 'SELECT') AND has_table_privilege($1, 'INSERT') AS usable`,
    [qualified(place)],
  )
  return rights?.usable === true ? ledgerOf(session, qualified(place), table) : null
}

function ledgerOf(session: Session, name: string, table: string): Ledger {
  return {
    name,
    async find({ id, other_ids }) {
      const others = other_ids.map((_, index) => `$${index + 3}`)
      const other = others.length === 0 ? '' : ` OR "table_name" = $2 AND "run_id" IN (${others.join(', ')})`
      const [row] = await session.rows<{ rows: string }>(
        `SELECT CAST("rows" AS VARCHAR) AS rows FROM ${name} WHERE "run_id" = $1${other}`,
        others.length === 0 ? [id] : [id, table, ...other_ids],
      )
      return row === undefined ? null : Number(row.rows)
    },
    async holdsOnly({ batch_export_id, id }) {
      const [row] = await session.rows<{ is_disjoint: boolean | null }>(
        `SELECT bool_and("disjoint" AND "batch_export_id" = $2 AND "run_id" <> $3) AS is_disjoint
           FROM ${name} WHERE "table_name" = $1`,
        [table, batch_export_id, id],
      )
      return row?.is_disjoint === true
    },
  }
}

type Entry = { run: RunFacts; table: string; rows: number; disjoint: boolean }
type Statement = { text: string; values: unknown[] }

/** For the entry of a run; `instant` is how this database writes the present. */
export function entryOf(ledger: Ledger, entry: Entry, instant: string): Statement {
  const { run, table, rows, disjoint } = entry
  const { interval } = run
  return {
    text: `INSERT INTO ${ledger.name} ("run_id", "batch_export_id", "table_name", "data_interval_start",
             "data_interval_end", "rows", "disjoint", "finished_at")
           VALUES ($1, $2, $3, $4, $5, $6, $7, ${instant})`,
    values: [run.id, run.batch_export_id, table, interval.start, interval.end, rows, disjoint],
  }
}

/** After a repair: the entry that is there stays what it was, but for the number of rows. */
export function renewalOf(ledger: Ledger, { run, rows }: Entry): Statement {
  return { text: `UPDATE ${ledger.name} SET "rows" = $2 WHERE "run_id" = $1`, values: [run.id, rows] }
}
