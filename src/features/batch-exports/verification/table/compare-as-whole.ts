// A table whose rows have no uuid: only the number of all rows and the sums of their hashes can be compared.
import type { Digest } from '../../destinations/destination.ts'
import { repairAdvice } from '../advice.ts'
import { listTableNeighbours } from '../neighbours.ts'
import type { Problem } from '../rows.ts'
import type { Verifying } from '../verifying.ts'
import type { TableComparison } from './compare-by-rows.ts'
import { forEachRowsFile } from './expected-rows.ts'
import { passOverStrays } from './unowned.ts'
import { listStrata } from './strata.ts'

/** Sums of more hashes than this are no longer exact. */
const EXACT_ROWS = 2 ** 21

export async function compareAsWhole(work: Verifying, comparison: TableComparison): Promise<void> {
  const { services, row, findings, reader } = work
  const { place, project_id, windows, strata, completed } = comparison
  const unowned = await reader.digest({ project_id, times: windows })
  await passOverStrays(work, place, unowned)
  findings.read.rows += await forEachRowsFile(work, strata, comparison, (path) => reader.expect(path))
  const { found, expected } = await reader.totals()
  if (isSame(found, expected)) return
  const known = await listStrata(services.db, row, place, completed)
  const isSettled = [...strata, ...known].every(({ state }) => state === 'expected')
  if (!isSettled || JSON.stringify(known) !== JSON.stringify(strata)) {
    findings.leaveUnclear(
      'Runs are not done with the table. Its rows have no uuid, so it cannot be compared meanwhile.',
    )
  } else if ((await listTableNeighbours(services.db, row, place)).length > 0) {
    findings.leaveUnclear(
      'Another export goes to the same table. Its rows have no uuid, so they cannot be told apart.',
    )
  } else {
    findings.add(problemOf(work, found, expected))
  }
}

function problemOf({ row }: Verifying, found: Digest, expected: Digest): Problem {
  const problem = { run: null, file: null, uuid: null, position: null, what_to_do: repairAdvice(row, null) }
  const counts = `The table has ${found.rows} rows; ${expected.rows} were delivered.`
  if (found.rows < expected.rows) return { ...problem, kind: 'missing_row', message: counts }
  if (found.rows > expected.rows) return { ...problem, kind: 'stray_row', message: counts }
  const message = `The ${found.rows} rows of the table are not those that were delivered.`
  return { ...problem, kind: 'changed_row', message }
}

function isSame(one: Digest, other: Digest): boolean {
  // What adding in another order may make of sums beyond 2^53 is far less than what one row adds.
  const tolerance = one.rows > EXACT_ROWS ? 4 * one.rows : 0
  const isNear = (at: 0 | 1) => Math.abs(one.sums[at] - other.sums[at]) <= tolerance
  return one.rows === other.rows && isNear(0) && isNear(1)
}
