// Columns of a table that are not compared. That the table has lost one is a problem; of the others the result says so.
import { sql } from '../../../../platform/db/sql.ts'
import type { Definition, OutputColumn } from '../../definition.ts'
import { repairAdvice } from '../advice.ts'
import { isAt, isDelivered, type DeliveryPlace } from '../deliveries.ts'
import type { OfferedTable } from '../reader/destination-reader.ts'
import type { Problem } from '../rows.ts'
import type { Verifying } from '../verifying.ts'
import { columnsInAll } from './expected-rows.ts'
import type { Stratum } from './strata.ts'

type Columns = {
  strata: readonly Stratum[]
  /** All that were delivered, but for those `two_kinds` whose values were of one kind and then of another. */
  all: readonly OutputColumn[]
  two_kinds: readonly string[]
  /** Those that can be compared as far as the export goes. */
  compared: readonly OutputColumn[]
  offer: OfferedTable
}

export async function reportColumns(work: Verifying, place: DeliveryPlace, columns: Columns): Promise<void> {
  const { all, two_kinds, compared, offer } = columns
  const { findings } = work
  const { lost, left_out } = await judgeLacking(work, place, columns)
  for (const name of lost) findings.add(problemOf(work, name))
  const isOffered = ({ name }: OutputColumn) => offer.columns.some((column) => column.name === name)
  const unlike = compared.filter((column) => !isOffered(column) && !offer.lacking.includes(column.name))
  const passed_over = all.filter((column) => !compared.includes(column))
  const json = passed_over.filter(({ kind }) => kind === 'json')
  const partial = passed_over.filter(({ kind }) => kind !== 'json')
  const wordsFor = (names: readonly string[], why: string) => `Not compared: ${names.join(', ')}. ${why}`
  const note = (names: readonly string[], why: string) => {
    if (names.length > 0) findings.note(wordsFor(names, why))
  }
  // Somebody may have changed the type, and the values with it.
  if (unlike.length > 0) {
    const why = 'The table has a type there that does not keep values as they were delivered.'
    findings.leaveUnclear(wordsFor(namesOf(unlike), why))
  }
  note(two_kinds, 'The export has delivered values of several types under the same name.')
  note(namesOf(json), 'JSON has many spellings, and the rows have no uuid to find each of them by.')
  note(
    namesOf(partial),
    'Some runs have not delivered it, and the rows have no uuid to find each of them by.',
  )
  note(left_out, 'The table does not have it.')
}

const namesOf = (columns: readonly OutputColumn[]) => columns.map(({ name }) => name)

function problemOf({ row }: Verifying, name: string): Problem {
  return {
    kind: 'missing_column',
    run: null,
    file: null,
    uuid: null,
    position: null,
    message: `The table no longer has the column ${name}, which was delivered.`,
    what_to_do: `Add the column to the table. ${repairAdvice(row, null)}`,
  }
}

/** Sorts the columns that the table lacks into those that a run has delivered and those that all have left out. */
async function judgeLacking(
  work: Verifying,
  place: DeliveryPlace,
  { strata, offer: { lacking } }: Columns,
): Promise<{ lost: string[]; left_out: string[] }> {
  if (lacking.length === 0) return { lost: [], left_out: [] }
  const expected = strata.filter(({ state }) => state === 'expected')
  const by_definition = new Map(
    expected.map((stratum) => [
      JSON.stringify(stratum.definition),
      columnsInAll(work, [stratum], place.kind.columns),
    ]),
  )
  const delivered = await listDelivered(work, place)
  const isLost = (name: string) =>
    delivered.some(
      ({ definition, left_out }) =>
        by_definition.get(JSON.stringify(definition))?.has(name) && !left_out.includes(name),
    )
  const known = lacking.filter((name) => [...by_definition.values()].some((names) => names.has(name)))
  return { lost: known.filter(isLost), left_out: known.filter((name) => !isLost(name)) }
}

type Delivered = { definition: Definition; left_out: string[] }

/** How the deliveries of the subject were defined, and which columns they left out. */
function listDelivered({ services, row, subject }: Verifying, place: DeliveryPlace): Promise<Delivered[]> {
  return services.db.rows(sql`
    SELECT DISTINCT definition, left_out FROM batch_export_run AS run
    WHERE ${isDelivered(row, subject)} AND ${isAt(place)} AND left_out IS NOT NULL`)
}
