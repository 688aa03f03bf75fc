// What an attempt finds out about the place before it sends rows: the table, the ledger, and what they allow.
import type { OutputColumn } from '../../definition.ts'
import { columnsInBoth } from '../columns-in-both.ts'
import { Refused, type Delivery, type DeliveryContext } from '../destination.ts'
import { notReplaceable } from '../not-replaceable.ts'
import { qualified, type TableName } from './identifiers.ts'
import { openLedger, type Ledger } from './ledger.ts'
import type { Session } from './session.ts'
import { ensureTable, KEYS, newTable, type Table } from './table.ts'

export type TablePlace = {
  session: Session
  table: Table
  ledger: Ledger | null
  /** The run's columns that the table has. */
  shared: OutputColumn[]
  /** Events that can be told apart. */
  has_uuid: boolean
}

export async function lookAround(
  session: Session,
  name: TableName,
  context: Pick<DeliveryContext, 'run' | 'columns' | 'log' | 'progress'>,
  form: Parameters<typeof newTable>[2],
): Promise<TablePlace> {
  const { run, columns, log } = context
  const key = KEYS[run.model]
  const table = await ensureTable(session, name, newTable(run, columns, form))
  const shared = await columnsInBoth(context, `The table ${table.name}`, (column) => table.types.has(column))
  const has_uuid = run.model === 'events' && shared.some((column) => column.name === 'uuid')
  const ledger = await openLedger(session, name)
  if (ledger === null) {
    const lack = `The table of delivered runs cannot be kept beside ${qualified(name)}`
    if (!has_uuid && key === null)
      throw new Refused(
        `${lack}, and without a uuid nothing else tells rows apart. Grant CREATE on the schema, or export the uuid too.`,
      )
    log('WARNING', `${lack}: rows are told apart by their keys alone, which is slower.`)
  }
  return { session, table, ledger, shared, has_uuid }
}

/** Whether no row of the run can be in the table: it is empty, or holds nothing but other runs of the same export. */
export async function isClear(
  { session, table, ledger }: TablePlace,
  run: DeliveryContext['run'],
): Promise<boolean> {
  if (run.is_repair) return false
  if (ledger !== null && (await ledger.holdsOnly(run))) return true
  const rows = await session.rows(`SELECT 1 FROM ${table.name} LIMIT 1`)
  return rows.length === 0
}

/** Without a uuid nothing tells which rows of the table are the run's. */
export function assertRepairable({ has_uuid, table }: TablePlace, { model }: DeliveryContext['run']): void {
  if (model === 'events' && !has_uuid) throw notReplaceable(table.name)
}

/** The ledger has the run: there is nothing to send. */
export function alreadyDelivered(session: Session, rows: number): Delivery {
  return {
    write: async () => {},
    async finish() {
      await session.close()
      return { rows, files: [] }
    },
    abort: () => session.close(),
  }
}
