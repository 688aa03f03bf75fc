// Delivers to a table in Redshift. Rows are inserted into a temporary table, then one transaction under a lock moves those
// that are not there yet and writes the ledger. An attempt that finds the run in the ledger does nothing.
//
// Tests run on PostgreSQL, so the statements are of the part that both share: multi-row INSERT with parameters, CREATE TEMP
// TABLE, LOCK, DELETE … USING, INSERT … SELECT, bool_and, the catalogs pg_class, pg_namespace and pg_attribute. Redshift's
// own are GETDATE(), the type SUPER and JSON_PARSE(). It has neither ON CONFLICT nor keys that are enforced.
import type { OutputColumn } from '../../definition.ts'
import type { Delivery, DeliveryContext, Destination } from '../destination.ts'
import { ATTEMPTS_OF_RUNS, connect } from '../sql-table/connect.ts'
import { inspectSqlTable } from '../sql-table/inspect.ts'
import { entryOf, renewalOf } from '../sql-table/ledger.ts'
import { lockTimeoutMs, STATEMENT_TIMEOUT_MS, TURN_TIMEOUT_MS } from '../sql-table/locks.ts'
import {
  alreadyDelivered,
  assertRepairable,
  isClear,
  lookAround,
  type TablePlace,
} from '../sql-table/place.ts'
import type { Session } from '../sql-table/session.ts'
import { tableSteps } from '../sql-table/steps.ts'
import { createTable, definitionOf, newTable, type Table } from '../sql-table/table.ts'
import { insertLines, STAGE } from './insert.ts'
import { redshiftInspection } from './inspect.ts'
import type { RedshiftConfig } from './kind.ts'
import { askForLock, limitStatements, waitForLock } from './locks.ts'
import { moveRows } from './merge.ts'

const LONGEST = 'VARCHAR(65535)'

/** Redshift folds all names to lower case, quoted ones too, so the catalogs know them that way. */
const nameOf = ({ schema, table_name }: RedshiftConfig) => ({
  schema: schema.toLowerCase(),
  table: table_name.toLowerCase(),
})

export const redshift: Destination<RedshiftConfig> = {
  encoding: () => ({ format: 'CopyText', compression: null, max_bytes: null, max_rows: null }),
  steps: tableSteps(nameOf),
  tableSql: (config, run, columns) =>
    createTable(nameOf(config), newTable(run, folded(columns), { typeOf: typeIn(config) })),
  async open(context) {
    const session = await connect(context, ATTEMPTS_OF_RUNS)
    try {
      return await openDelivery(context, session)
    } catch (error) {
      await session.close()
      throw error
    }
  },
  inspect: (context) => inspectSqlTable(context, nameOf(context.config), redshiftInspection),
}

type Context = DeliveryContext<RedshiftConfig>

async function openDelivery(context: Context, session: Session): Promise<Delivery> {
  const { config, run } = context
  const columns = folded(context.columns)
  await limitStatements(session, STATEMENT_TIMEOUT_MS)
  await session.run(`SET timezone TO 'UTC'`)
  const place = await lookAround(session, nameOf(config), { ...context, columns }, { typeOf: typeIn(config) })
  if (run.is_repair) assertRepairable(place, run)
  else {
    const recorded = (await place.ledger?.find(run)) ?? null
    if (recorded !== null) return alreadyDelivered(session, recorded)
  }
  await askForLock(place, lockTimeoutMs(context.settings))
  await makeStage(session, columns, place.table)
  return deliveryOf(place, context, columns)
}

const folded = (columns: readonly OutputColumn[]) =>
  columns.map((column) => ({ ...column, name: column.name.toLowerCase() }))

const typeIn = (config: RedshiftConfig) => (column: OutputColumn) =>
  column.type ?? typesFor(config)[column.kind]

function typesFor({ properties_data_type }: RedshiftConfig): Record<OutputColumn['kind'], string> {
  return {
    text: LONGEST,
    json: properties_data_type === 'super' ? 'SUPER' : LONGEST,
    integer: 'BIGINT',
    float: 'DOUBLE PRECISION',
    boolean: 'BOOLEAN',
    timestamp: 'TIMESTAMPTZ',
  }
}

/** Typed as the table is, except for SUPER: a text put there stays a text, so it is parsed on the way to the table. */
async function makeStage(session: Session, columns: readonly OutputColumn[], table: Table): Promise<void> {
  const typeOf = ({ name }: OutputColumn) => {
    const type = table.types.get(name) ?? LONGEST
    return type === 'super' ? LONGEST : type
  }
  await session.run(`CREATE TEMP TABLE ${STAGE} (${definitionOf(columns, typeOf, null)})`)
}

function deliveryOf(place: TablePlace, context: Context, columns: readonly OutputColumn[]): Delivery {
  const { session } = place
  const dropped: string[] = []
  let rows = 0
  return {
    // Each statement is a transaction of its own: one that spans them all would look at the table as it was before.
    async write(file) {
      const inserted = await insertLines(session, file.path, columns, context.signal, (row) =>
        dropped.push(row),
      )
      if (inserted !== file.rows) throw new Error(`${inserted} of ${file.rows} rows of a file were inserted`)
      rows += inserted
    },
    async finish() {
      if (dropped.length > 0) {
        context.log(
          'WARNING',
          `JSON of more than 65535 bytes was left out in ${dropped.length} rows, first in ${dropped[0]}.`,
        )
      }
      const delivered = await moveAndRecord(place, context, rows)
      await session.close()
      return { rows: delivered, files: [] }
    },
    abort: () => session.close(),
  }
}

async function moveAndRecord(
  place: TablePlace,
  { run, config, settings }: Context,
  rows: number,
): Promise<number> {
  const { session, table, ledger, shared } = place
  await session.run('BEGIN')
  // Before anything is read: Redshift's transactions see the database as it is at the first look. The ledger stands for
  // all tables of its schema, and is ours.
  const first = ledger?.name ?? table.name
  await waitForLock(session, first, TURN_TIMEOUT_MS, () => session.run(`LOCK TABLE ${first}`))
  await askForLock(place, lockTimeoutMs(settings))
  const recorded = (await ledger?.find(run)) ?? null
  if (recorded !== null && !run.is_repair) {
    await session.run('ROLLBACK')
    return recorded
  }
  const is_clear = place.has_uuid && (await isClear(place, run))
  await moveRows({ session, table, columns: shared, run, is_clear, has_uuid: place.has_uuid })
  if (ledger !== null) {
    const entry = { run, table: nameOf(config).table, rows, disjoint: is_clear }
    const { text, values } =
      recorded === null ? entryOf(ledger, entry, 'GETDATE()') : renewalOf(ledger, entry)
    await session.run(text, values)
  }
  const { command } = await session.run('COMMIT')
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
  return rows
}
