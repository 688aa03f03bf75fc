// A table whose rows have a uuid: digests first, and where a bucket differs each row of it.
import type { OutputColumn } from '../../definition.ts'
import type { ColumnSet } from '../../destinations/destination.ts'
import type { DeliveryPlace } from '../deliveries.ts'
import type { Verifying } from '../verifying.ts'
import { forEachRowsFile } from './expected-rows.ts'
import { reportRows } from './report-rows.ts'
import { passOverStrays } from './unowned.ts'
import { listStrata, type Stratum } from './strata.ts'
import type { Window } from './windows.ts'

export type TableComparison = {
  place: DeliveryPlace
  set: ColumnSet
  /** Those that the table has. */
  columns: readonly OutputColumn[]
  /** Events are told apart by their time as well as by their uuid. */
  is_by_time: boolean
  /** Null where rows were delivered that do not say whose they are. */
  project_id: number | null
  windows: readonly Window[] | null
  strata: readonly Stratum[]
  /** The runs that had got through before the table was read. */
  completed: readonly string[]
}

export async function compareByRows(work: Verifying, comparison: TableComparison): Promise<void> {
  const { services, row, findings, reader } = work
  const { place, project_id, windows, strata, completed } = comparison
  const unowned = await reader.digest({ project_id, times: windows })
  await passOverStrays(work, place, unowned)
  const expected = strata.filter(({ state }) => state === 'expected')
  findings.read.rows += await forEachRowsFile(work, expected, comparison, (path) => reader.expect(path))
  if ((await reader.fetchDiffering()) === 0) return
  // Runs may have come and gone meanwhile: what is known of them now tells whose the rows are.
  const known = await listStrata(services.db, row, place, completed)
  const position_as = nameBeside(comparison.columns, 'position')
  await forEachRowsFile(
    work,
    known,
    comparison,
    (path, { state }) => reader.setAside(path, state, position_as),
    position_as,
  )
  await reportRows(work, place, await reader.compare(comparison.is_by_time))
}

/** One that no column has. */
function nameBeside(columns: readonly OutputColumn[], name: string): string {
  return columns.some((column) => column.name === name) ? nameBeside(columns, `${name}_`) : name
}
