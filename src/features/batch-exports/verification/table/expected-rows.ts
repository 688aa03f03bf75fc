// Rows of the store that should be in a table, or may be: those of strata, in the columns that are compared.
import type { PositionBlock } from '../../../../platform/event-store/event-store.ts'
import type { Area, ExportRows } from '../../../../platform/event-store/export-rows.ts'
import type { Definition, OutputColumn } from '../../definition.ts'
import type { ColumnSet } from '../../destinations/destination.ts'
import { pickColumns } from '../../source/pick-columns.ts'
import { selectRows, type SelectedRows } from '../../source/select.ts'
import { forEachPiece, type Verifying } from '../verifying.ts'
import { areasWithin, type Stratum } from './strata.ts'
import type { Window } from './windows.ts'

/** Each adds a condition to the statement. */
const AREAS_AT_ONCE = 64
const BLOCK_POSITIONS = 16_384
/** From so many on it pays to ask first which positions can be meant. */
const MANY_STRATA = 20

export type Comparison = {
  columns: readonly OutputColumn[]
  windows: readonly Window[] | null
  set: ColumnSet
}

function selectStratum(
  { services, row }: Verifying,
  stratum: Stratum,
  set: ColumnSet,
  areas: readonly Area[],
): SelectedRows {
  const { definition, interval_end, created_at } = stratum
  const bounds = {
    selection: 'arrival',
    interval: { start: null, end: interval_end },
    seq_from: 0,
    seq_to: 0,
    areas,
  } as const
  const { engine } = services.eventStore
  const project = { id: row.project_id, timezone: definition.timezone, engine }
  return selectRows(project, definition, set, bounds, created_at)
}

/** The columns of any of the strata; one that has two kinds of values cannot be compared. */
export function columnsOf(
  work: Verifying,
  strata: readonly Stratum[],
  set: ColumnSet,
): { all: OutputColumn[]; two_kinds: string[] } {
  const lists = columnLists(work, strata, set).flat()
  const kinds = (name: string) =>
    new Set(lists.filter((column) => column.name === name).map(({ kind }) => kind))
  const unique = [...new Map(lists.map((column) => [column.name, column])).values()]
  const all = unique.filter(({ name }) => kinds(name).size === 1)
  return { all, two_kinds: unique.filter((column) => !all.includes(column)).map(({ name }) => name) }
}

/** Names that all of the strata have. */
export function columnsInAll(work: Verifying, strata: readonly Stratum[], set: ColumnSet): Set<string> {
  const [first, ...others] = columnLists(work, strata, set).map(
    (columns) => new Set(columns.map(({ name }) => name)),
  )
  return new Set([...first!].filter((name) => others.every((names) => names.has(name))))
}

/** One for each definition. */
function columnLists(work: Verifying, strata: readonly Stratum[], set: ColumnSet): OutputColumn[][] {
  const unique = new Map(strata.map((stratum) => [JSON.stringify(stratum.definition), stratum]))
  return [...unique.values()].map((stratum) => selectStratum(work, stratum, set, []).columns)
}

/** How many rows there were. */
export async function forEachRowsFile(
  work: Verifying,
  strata: readonly Stratum[],
  { columns, windows, set }: Comparison,
  use: (path: string, stratum: Stratum) => Promise<void>,
  position_as: string | null = null,
): Promise<number> {
  const blocks = windows && strata.length >= MANY_STRATA ? await occupied(work, strata, windows, set) : null
  let rows = 0
  for (const stratum of strata) {
    const areas = areasWithin(stratum.areas, windows).filter((area) => isIn(area, blocks))
    for (let from = 0; from < areas.length; from += AREAS_AT_ONCE) {
      const some = areas.slice(from, from + AREAS_AT_ONCE)
      const selected = selectStratum(work, stratum, set, some)
      const compared = comparedColumns(selected, columns, position_as)
      rows += await forEachPiece(work, compared, { kind: 'json-lines' }, (path) => use(path, stratum))
    }
  }
  return rows
}

function comparedColumns(
  { rows }: SelectedRows,
  columns: readonly OutputColumn[],
  position_as: string | null,
): ExportRows {
  const names = columns.map(({ name }) => name)
  const own = rows.columns.map(({ name }) => name)
  return pickColumns(
    rows,
    names.filter((name) => own.includes(name)),
    position_as,
  )
}

/** Blocks of positions with events that happened in the windows. */
function occupied(
  work: Verifying,
  strata: readonly Stratum[],
  windows: readonly Window[],
  set: ColumnSet,
): Promise<PositionBlock[]> {
  const seq_to = Math.max(...strata.flatMap(({ areas }) => areas.map((area) => area.seq_to)))
  const areas = windows.map(({ from, to }) => ({ seq_from: 0, seq_to, time_from: from, time_to: to }))
  const definition: Definition = {
    ...strata[0]!.definition,
    config: {},
    filters: null,
    hogql_query: null,
  }
  const { rows } = selectStratum(work, { ...strata[0]!, definition }, set, areas)
  return work.services.eventStore.countBlocks(rows, BLOCK_POSITIONS, work.signal)
}

function isIn({ seq_from, seq_to }: Area, blocks: readonly PositionBlock[] | null): boolean {
  return blocks === null || blocks.some(({ from, to }) => seq_from < to && from < seq_to)
}
