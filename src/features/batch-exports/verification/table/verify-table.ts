// A table against all that deliveries have brought to it, by digests of its rows. A verification of less than everything
// looks at the hours in which the events in question happened: at all rows of those hours, whichever run brought them.
import type { OutputColumn } from '../../definition.ts'
import { readFrozen, selectionOf } from '../../runs/frozen.ts'
import { hasOwn } from '../../source/own-columns.ts'
import { pickColumns } from '../../source/pick-columns.ts'
import { countDeliveries, eachDelivery, type DeliveryPlace } from '../deliveries.ts'
import type { ReadPlace } from '../reader/destination-reader.ts'
import { isWhole } from '../rows.ts'
import { forEachPiece, NARROW_ROWS, type Verifying } from '../verifying.ts'
import { compareAsWhole } from './compare-as-whole.ts'
import { compareByRows } from './compare-by-rows.ts'
import { columnsInAll, columnsOf } from './expected-rows.ts'
import { reportColumns } from './report-columns.ts'
import { listCompleted, listStrata, type Stratum } from './strata.ts'
import { windowsOf, type Window } from './windows.ts'

export async function verifyTable(work: Verifying, place: DeliveryPlace, opening: ReadPlace): Promise<void> {
  const { services, row, subject, findings, reader } = work
  const completed = await listCompleted(services.db, row)
  const strata = await listStrata(services.db, row, place, completed)
  if (strata.length === 0) {
    findings.note('Persons and sessions change after their export, so tables of them cannot be compared.')
    return
  }
  const windows = isWhole(subject) ? null : await findWindows(work, place, strata)
  if (windows?.length === 0) {
    findings.note(
      'The table has no time of the events, so it is compared as a whole, on the timetable or on request.',
    )
    return
  }
  const set = place.kind.columns
  const { all, two_kinds } = columnsOf(work, strata, set)
  const in_all = columnsInAll(work, strata, set)
  const has_uuid = in_all.has('uuid')
  // Without a uuid no row can be looked at by itself: JSON means the same in many spellings, and what a table has in a
  // column that a run did not bring is its own matter.
  const columns = has_uuid ? all : all.filter(({ kind, name }) => kind !== 'json' && in_all.has(name))
  const offer = await reader.open({ ...opening, columns })
  if (offer.kind !== 'table') {
    findings.note(`Tables of ${place.kind.type} cannot be read back.`)
    return
  }
  findings.read.runs += await countDeliveries(services.db, row, subject, place)
  await reportColumns(work, place, { strata, all, two_kinds, compared: columns, offer })
  const isNamedByAll = strata.every(({ definition }) => hasOwn('team_id', definition))
  const project_id = isNamedByAll ? row.project_id : null
  const is_by_time = !offer.has_one_row_for_uuid && hasTimes(strata) && isNamed(offer.columns, 'timestamp')
  const comparison = {
    columns: offer.columns,
    is_by_time,
    project_id,
    windows,
    set,
    place,
    completed,
    strata,
  }
  if (has_uuid && isNamed(offer.columns, 'uuid')) await compareByRows(work, comparison)
  else await compareAsWhole(work, comparison)
}

/** None where the table's rows cannot be looked for by time. */
async function findWindows(
  work: Verifying,
  place: DeliveryPlace,
  strata: readonly Stratum[],
): Promise<Window[]> {
  const { services, row, subject, reader } = work
  if (!hasTimes(strata)) return []
  const hours = new Set<number>()
  for await (const run of eachDelivery(services.db, row, subject, place)) {
    const { rows } = selectionOf(services.eventStore, await readFrozen(services.db, run))
    if (!isNamed(rows.columns, 'timestamp')) return []
    const add = async (path: string) => {
      for (const hour of await reader.listHours(path)) hours.add(hour)
    }
    await forEachPiece(
      work,
      pickColumns(rows, ['timestamp']),
      { kind: 'json-lines', max_rows: NARROW_ROWS },
      add,
    )
  }
  return hours.size === 0 ? [] : windowsOf([...hours])
}

const hasTimes = (strata: readonly Stratum[]) =>
  strata.every(({ definition }) => hasOwn('timestamp', definition))

const isNamed = (columns: readonly Pick<OutputColumn, 'name'>[], name: string) =>
  columns.some((column) => column.name === name)
