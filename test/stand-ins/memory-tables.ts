// Tables in memory behind the contract of destinations: rows come and go as a whole, repairs replace them by their key, and
// JSON is spelled in a way of its own, as every database does.
import { readFileSync } from 'node:fs'
import type {
  Delivery,
  DeliveryContext,
  Destination,
  Digest,
  InspectionContext,
  TableInspection,
  TableScope,
} from '../../src/features/batch-exports/destinations/destination.ts'
import { addRow, bucketOf, UNOWNED } from '../../src/features/batch-exports/destinations/warehouse/digest.ts'
import type { OutputColumn } from '../../src/features/batch-exports/definition.ts'

export type MemoryRow = Record<string, unknown>

/** With the names of the columns that it was made with, or given since. */
export type MemoryTable = { columns: Set<string>; rows: MemoryRow[] }

export type MemoryTables = Destination & {
  tables: Map<string, MemoryTable>
  /** Called before a table is read: a test may do something meanwhile, or throw. */
  onRead(what: 'digest' | 'rows', table: string): Promise<void>
  /** Called when rows are visible and the run does not know yet. */
  onFinished(): Promise<void>
}

export function memoryTables(): MemoryTables {
  const ledger = new Set<string>()
  const place: MemoryTables = {
    tables: new Map(),
    onRead: async () => {},
    onFinished: async () => {},
    encoding: () => ({ format: 'JSONLines', compression: null, max_bytes: null, max_rows: null }),
    steps: [],
    open: async (context) => openDelivery(place, ledger, context),
    inspect: async (context) => ({ table: inspectTable(place, context), close: async () => {} }),
  }
  return place
}

const nameIn = ({ config }: Pick<DeliveryContext, 'config'>) => String(config.table_name ?? config.table_id)

function openDelivery(place: MemoryTables, ledger: Set<string>, context: DeliveryContext): Delivery {
  const { run } = context
  const stage: MemoryRow[] = []
  return {
    async write({ path }) {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      stage.push(...lines.map((line) => JSON.parse(line) as MemoryRow))
    },
    async finish() {
      if (!ledger.has(run.id) || run.is_repair) {
        take(tableOf(place, context), stage, run)
        ledger.add(run.id)
      }
      await place.onFinished()
      return { rows: stage.length, files: [] }
    },
    abort: async () => {},
  }
}

/** Made by the first run, and wider when a later one has more columns. */
function tableOf({ tables }: MemoryTables, context: DeliveryContext): MemoryTable {
  const table = tables.get(nameIn(context)) ?? { columns: new Set(), rows: [] }
  tables.set(nameIn(context), table)
  for (const { name } of context.columns) table.columns.add(name)
  return table
}

/** Rows that are there are told by their uuid and their time: passed over, or replaced by a repair. */
function take(table: MemoryTable, stage: readonly MemoryRow[], run: DeliveryContext['run']): void {
  const keyOf = ({ uuid, timestamp = null }: MemoryRow) =>
    JSON.stringify([uuid, run.told_apart_by.includes('timestamp') ? timestamp : null])
  const staged = new Set(stage.map(keyOf))
  if (run.is_repair)
    table.rows = table.rows.filter((row) => row.uuid === undefined || !staged.has(keyOf(row)))
  const there = new Set(table.rows.map(keyOf))
  table.rows.push(...stage.filter((row) => row.uuid === undefined || !there.has(keyOf(row))))
}

function inspectTable(place: MemoryTables, context: InspectionContext): TableInspection {
  const name = nameIn(context)
  const rows = () => place.tables.get(name)!.rows
  const found = place.tables.get(name)
  const columns = context.columns.filter((column) => found?.columns.has(column.name))
  const lacking = found ? context.columns.filter((column) => !columns.includes(column)) : []
  const within = ({ project_id, times }: TableScope) =>
    rows().filter(({ team_id = null, timestamp }) => {
      const at = Date.parse(String(timestamp))
      const isOurs =
        project_id === null || !found!.columns.has('team_id') || (team_id ?? project_id) === project_id
      return isOurs && (times === null || times.some(({ from, to }) => at >= +from && at < +to))
    })
  const bucketIn = ({ project_id }: TableScope, { uuid, team_id = null }: MemoryRow) => {
    const is_unowned = project_id !== null && found!.columns.has('team_id') && team_id === null
    return (is_unowned ? UNOWNED : '') + bucketOf((uuid as string) ?? null)
  }
  const spelled = (row: MemoryRow) => columns.map((column) => spellInTable(column, row[column.name] ?? null))
  return {
    columns,
    lacking: lacking.map((column) => column.name),
    has_one_row_for_uuid: false,
    async digest(scope) {
      await place.onRead('digest', name)
      const digests = new Map<string, Digest>()
      if (!place.tables.has(name)) return digests
      for (const row of within(scope)) addRow(digests, bucketIn(scope, row), spelled(row))
      return digests
    },
    async rows(scope, bucket) {
      await place.onRead('rows', name)
      return within(scope)
        .filter((row) => bucketIn(scope, row) === bucket)
        .map(spelled)
    },
    spell: ({ kind }, value) =>
      value === null || value === undefined
        ? null
        : kind === 'json'
          ? JSON.stringify(value)
          : String(value as string | number | boolean),
  }
}

/** Keys in the order of the alphabet, as some databases have them: our own spelling is another, the meaning is not. */
function spellInTable({ kind }: OutputColumn, value: unknown): string | null {
  if (value === null) return null
  return kind === 'json' ? JSON.stringify(sorted(value)) : String(value as string | number | boolean)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
