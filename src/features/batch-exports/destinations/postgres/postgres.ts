// Delivers to a table in PostgreSQL: one transaction for a run, with an entry in the ledger beside the table. An attempt
// that finds the run there already does nothing.
import type { OutputColumn } from '../../definition.ts'
import type { Delivery, DeliveryContext, Destination, RunFacts, TableFacts } from '../destination.ts'
import { cleanedBytes, Stretches } from '../sql-table/cleaned.ts'
import { ATTEMPTS_OF_RUNS, connect } from '../sql-table/connect.ts'
import { qualified, quotedList } from '../sql-table/identifiers.ts'
import { inspectSqlTable } from '../sql-table/inspect.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { entryOf } from '../sql-table/ledger.ts'
import { lockTimeoutMs, openNamingLocks, STATEMENT_TIMEOUT_MS } from '../sql-table/locks.ts'
import {
  alreadyDelivered,
  assertRepairable,
  isClear,
  lookAround,
  type TablePlace,
} from '../sql-table/place.ts'
import type { Session } from '../sql-table/session.ts'
import { tableSteps } from '../sql-table/steps.ts'
import { createTable, definitionOf, KEYS, newTable, type Table } from '../sql-table/table.ts'
import { postgresInspection } from './inspect.ts'
import type { PostgresConfig } from './kind.ts'
import {
  assertKey,
  findEventKey,
  hasOneRowForUuid,
  insertAll,
  insertNew,
  replaceAll,
  STAGE,
  upsert,
  type EventKey,
} from './merge.ts'
import { assertUnlocked, lockTable, mayGoStraight } from './copy-mode.ts'

const TYPES: Record<OutputColumn['kind'], string> = {
  text: 'TEXT',
  json: 'JSONB',
  integer: 'BIGINT',
  float: 'DOUBLE PRECISION',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMPTZ',
}

const typeOf = (column: OutputColumn) => column.type ?? TYPES[column.kind]
const nameOf = ({ schema, table_name }: PostgresConfig) => ({ schema, table: table_name })

export const postgres: Destination<PostgresConfig> = {
  encoding: () => ({ format: 'CopyText', compression: null, max_bytes: null, max_rows: null }),
  steps: tableSteps(nameOf),
  tableSql: (config, run, columns) =>
    createTable(nameOf(config), newTable(run, columns, formOf({ config, run, columns }))),
  async open(context) {
    const session = await connect(context, ATTEMPTS_OF_RUNS)
    const { schema, table } = nameOf(context.config)
    const tables = [table, LEDGER_TABLE].map((each) => qualified({ schema, table: each }))
    try {
      return await openNamingLocks(session, tables, () => openDelivery(context, session))
    } catch (error) {
      await session.close()
      throw error
    }
  },
  inspect: (context) =>
    inspectSqlTable(context, nameOf(context.config), {
      ...postgresInspection,
      hasOneRowForUuid,
    }),
}

type Context = DeliveryContext<PostgresConfig>

type PostgresPlace = TablePlace & {
  /** Null where there is no uuid. */
  key: EventKey | null
}

async function openDelivery(context: Context, session: Session): Promise<Delivery> {
  const { config, run, settings } = context
  await setUp(session, lockTimeoutMs(settings))
  const found = await lookAround(session, nameOf(config), context, formOf(context))
  await assertKey(session, found.table, run.model)
  const place = { ...found, key: await keyOf(session, found, run) }
  if (run.is_repair) assertRepairable(place, run)
  else {
    const recorded = (await place.ledger?.find(run)) ?? null
    if (recorded !== null) return alreadyDelivered(session, recorded)
  }
  await session.run('BEGIN ISOLATION LEVEL READ COMMITTED')
  const is_straight = await goesStraight(place, context)
  if (!is_straight) {
    await makeStage(session, context.columns, place.table)
    await assertUnlocked(place)
  }
  return deliveryOf(place, context, is_straight)
}

async function keyOf(session: Session, { has_uuid, shared, table }: TablePlace, run: RunFacts) {
  if (!has_uuid) return null
  const names = shared.map(({ name }) => name)
  return findEventKey(session, table, names, run.told_apart_by)
}

/**
 * Nothing is waited for without end. A run has its own limit of time, so transactions have none; one whose client has
 * gone without a word ends soon, and with it its locks. Only settings that the server knows: older ones lack some.
 */
async function setUp(session: Session, lock_timeout_ms: number): Promise<void> {
  await session.run(
    `SELECT set_config(known.name, wanted.value, false)
       FROM pg_settings known
       JOIN (VALUES ('timezone', 'UTC'), ('statement_timeout', $1), ('lock_timeout', $2),
                    ('idle_in_transaction_session_timeout', '5min'), ('transaction_timeout', '0'),
                    ('client_connection_check_interval', '10s'))
         AS wanted (name, value) ON lower(known.name) = wanted.name`,
    [String(STATEMENT_TIMEOUT_MS), String(lock_timeout_ms)],
  )
}

type Destined = Pick<Context, 'config' | 'columns'> & { run: TableFacts }

const formOf = (destined: Destined) => ({ typeOf, also: timeIndex(destined) })

/** Runs that look for their rows search a stretch of time. BRIN costs COPY next to nothing, and is no key. */
function timeIndex({ run, columns, config }: Destined): string {
  const has = (name: string) => columns.some((column) => column.name === name)
  if (run.model !== 'events' || !has('uuid') || !has('timestamp')) return ''
  return `CREATE INDEX ON ${qualified(nameOf(config))} USING brin ("timestamp")`
}

async function goesStraight(place: PostgresPlace, { run, columns }: Context): Promise<boolean> {
  // A COPY cannot leave out fields of the file.
  const is_whole = place.shared.length === columns.length
  if (KEYS[run.model] !== null || !is_whole || (place.key?.unique ?? null) !== null) return false
  // Without a uuid nothing can be looked for: the ledger alone makes it exact.
  return !place.has_uuid || (await mayGoStraight(place, run))
}

/** Typed as the table is, so that what the table takes is what the stage takes. */
async function makeStage(session: Session, columns: readonly OutputColumn[], table: Table): Promise<void> {
  const typeInTable = (column: OutputColumn) => table.types.get(column.name) ?? typeOf(column)
  const definition = definitionOf(columns, typeInTable, null)
  await session.run(`CREATE TEMP TABLE "longshore_stage" (${definition}) ON COMMIT DROP`)
}

function deliveryOf(place: PostgresPlace, context: Context, is_straight: boolean): Delivery {
  const { session, table, has_uuid } = place
  const { columns, signal, log } = context
  const names = quotedList(columns.map(({ name }) => name))
  const copy = `COPY ${is_straight ? table.name : STAGE} (${names}) FROM STDIN`
  const memory = new Stretches()
  let rows = 0
  let is_cleaned = false
  return {
    async write(file) {
      // The database has answered for the last file: it has read all of it.
      memory.takeBack()
      const bytes = cleanedBytes(file.path, columns, memory, signal, () => (is_cleaned = true))
      const copied = await session.copy(copy, bytes)
      if (copied !== file.rows) throw new Error(`${copied} of ${file.rows} rows of a file were copied`)
      rows += copied
    },
    async finish() {
      if (is_cleaned) log('WARNING', 'JSON lost what jsonb cannot hold: \\u0000, or half a surrogate pair.')
      const was_clear = is_straight ? has_uuid : await merge(place, context)
      const delivered = await commit(place, context, rows, was_clear)
      await session.close()
      return { rows: delivered, files: [] }
    },
    abort: () => session.close(),
  }
}

/** Whether the table held nothing that the run could have brought. */
async function merge(place: PostgresPlace, { run }: Context): Promise<boolean> {
  const { session, table, shared, key } = place
  const names = shared.map(({ name }) => name)
  await lockTable(place)
  const { model, is_repair } = run
  if (model !== 'events') {
    await upsert(session, table, names, { model, is_repair })
    return false
  }
  if (key === null) {
    await insertAll(session, table, names)
    return false
  }
  if (is_repair) {
    await replaceAll(session, table, names, key)
    return false
  }
  const is_clear = await isClear(place, run)
  if (is_clear && key.unique === null) await insertAll(session, table, names)
  else await insertNew(session, table, names, key)
  return is_clear
}

/** Another worker may have been at the same run, and faster: then its rows stay and ours go. */
async function commit(
  { session, ledger }: TablePlace,
  { run, config }: Context,
  rows: number,
  disjoint: boolean,
): Promise<number> {
  if (ledger !== null) {
    const entry = entryOf(ledger, { run, table: config.table_name, rows, disjoint }, 'now()')
    const known = run.is_repair ? `DO UPDATE SET "rows" = excluded."rows"` : 'DO NOTHING'
    const { count } = await session.run(`${entry.text} ON CONFLICT ("run_id") ${known}`, entry.values)
    if (count === 0) {
      await session.run('ROLLBACK')
      return (await ledger.find(run)) ?? rows
    }
  }
  const { command } = await session.run('COMMIT')
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
  return rows
}
