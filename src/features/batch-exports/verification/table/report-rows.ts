// What was found in a table, in words: each row with its run and what to do.
import type { Db } from '../../../../platform/db/database.ts'
import { sql } from '../../../../platform/db/sql.ts'
import type { RunRow } from '../../rows.ts'
import { repairAdvice } from '../advice.ts'
import type { DeliveryPlace } from '../deliveries.ts'
import { hasDeliveredElsewhere, listTableNeighbours } from '../neighbours.ts'
import type { Owner } from '../queries.ts'
import type { RowProblem } from '../reader/compare-rows.ts'
import type { Compared } from '../reader/table-comparison.ts'
import type { Verifying } from '../verifying.ts'

type Kind = RowProblem['kind']

/** The server of the table may have several names, and an export for each. */
const STRAY_ADVICE =
  'Find out what has brought the row. If no other export or program has, delete it from the table.'

export async function reportRows(work: Verifying, place: DeliveryPlace, compared: Compared): Promise<void> {
  const { services, row, findings } = work
  const passed_over = await notOurs(work, place, compared)
  const shown = compared.shown.filter(({ kind }) => !passed_over.has(kind)).slice(0, findings.room)
  const owners = await findOwners(services.db, row, shown)
  for (const problem of shown) {
    const owner = owners.get(problem.position ?? 0) ?? null
    const what_to_do = problem.kind === 'stray_row' ? STRAY_ADVICE : repairAdvice(row, owner)
    const { kind, uuid, position } = problem
    findings.add({
      kind,
      run: owner?.id ?? null,
      file: null,
      uuid,
      position,
      message: messageOf(problem),
      what_to_do,
    })
  }
  for (const [kind, count] of Object.entries(compared.counts) as [Kind, number][]) {
    const told = shown.filter((problem) => problem.kind === kind).length
    if (!passed_over.has(kind)) findings.count(kind, count - told)
  }
}

/** What cannot be called a problem, because others may have brought rows to the same table, or this export under another name. */
async function notOurs(
  { services, row, findings }: Verifying,
  place: DeliveryPlace,
  { counts }: Compared,
): Promise<Set<Kind>> {
  const { stray_row = 0, changed_row = 0 } = counts
  const passed_over = new Set<Kind>()
  if (stray_row + changed_row === 0) return passed_over
  const others = await listTableNeighbours(services.db, row, place)
  if (stray_row > 0 && others.length > 0) {
    passed_over.add('stray_row')
    findings.note(
      'Rows that this export has not delivered were not compared: another export goes to the same table.',
    )
  } else if (stray_row > 0 && (await hasDeliveredElsewhere(services.db, row, place))) {
    passed_over.add('stray_row')
    findings.leaveUnclear(
      `Rows that this export has not delivered here: ${stray_row}. It has delivered to another address before, which may be another name of this table. Compare the rows before you delete any.`,
    )
  }
  // It may have brought the same events first, in columns of its own.
  if (changed_row > 0 && others.some(({ project_id }) => project_id === row.project_id)) {
    passed_over.add('changed_row')
    findings.leaveUnclear(
      `Rows with other values than were delivered: ${changed_row}. Another export of the project goes to the same table, and may have brought them.`,
    )
  }
  return passed_over
}

function messageOf({ kind, columns }: RowProblem): string {
  switch (kind) {
    case 'missing_row':
      return 'The event is not in the table.'
    case 'doubled_row':
      return 'The event is in the table more than once.'
    case 'changed_row':
      return `The row has another value than was delivered in ${columns.join(', ')}.`
    case 'stray_row':
      return 'No run of this export has delivered this row.'
  }
}

type OwnerRun = Pick<RunRow, 'id' | 'data_interval_start' | 'data_interval_end'>

/** The run that counts of each position's delivery. */
async function findOwners(
  db: Db,
  { id }: Owner,
  problems: readonly RowProblem[],
): Promise<Map<number, OwnerRun>> {
  const placed = problems.filter(({ position }) => position !== null)
  const rows = await db.rows<OwnerRun & { position: number }>(sql`
    SELECT DISTINCT ON (asked.position) asked.position::float8 AS position, run.id, run.data_interval_start,
      run.data_interval_end
    FROM unnest(${placed.map(({ position }) => position)}::bigint[], ${placed.map(({ at }) => at)}::timestamptz[])
      AS asked (position, at)
    JOIN batch_export_claim AS claim ON claim.batch_export_id = ${id} AND claim.positions @> asked.position
      AND (claim.times @> asked.at OR asked.at IS NULL)
    JOIN batch_export_run AS run ON run.id = claim.run_id OR run.repeats = claim.run_id
    ORDER BY asked.position, (run.status = 'Completed') DESC, run.created_at DESC`)
  return new Map(rows.map(({ position, ...run }) => [position, run]))
}
