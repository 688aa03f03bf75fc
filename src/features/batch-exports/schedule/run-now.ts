// A run before its time: what has arrived since the last interval ended goes out now. It is a run of the schedule, and the
// next one begins where it ends. So nothing goes out twice, and nothing is left out.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { lockExport } from '../queries.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { getIntervalRun } from '../runs/read-queries.ts'
import { MAX_LIVE_RUNS, owedIntervals, scheduledRuns } from './due.ts'
import { boundaryAfter, earliest, intervalEndingAt, latest } from './grid.ts'
import { insertRuns } from './new-runs.ts'
import { moveDue, standings } from './queries.ts'

const SECOND_MS = 1_000

/** Gives the run that has what arrived until now; it may have been there before. */
export async function runNow(
  tx: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  now: Date,
): Promise<{ run: RunRow; is_made: boolean }> {
  const row = await lockExport(tx, project_id, id)
  assertUnderWay(row, now)
  const { live_runs, covered_until } = (await standings(tx, [id])).get(id)!
  const end = endOfRun(row, now)
  if (covered_until !== null && covered_until >= end)
    return { run: await getIntervalRun(tx, row, covered_until), is_made: false }
  const room = MAX_LIVE_RUNS - live_runs
  const owed = owedIntervals(row, covered_until, now, room)
  if (owed.length >= room) {
    throw refused(`The export is catching up: ${MAX_LIVE_RUNS} runs or more come before this one.`)
  }
  const start = latest(intervalEndingAt(row, end).start, owed.at(-1)?.end ?? covered_until)
  const early = { ...scheduledRuns(row, [{ start, end }])[0]!, run_after: end }
  await insertRuns(tx, [...scheduledRuns(row, owed), early], now)
  await moveDue(tx, [{ ...row, next_due_at: latest(row.next_due_at, boundaryAfter(row, end)) }])
  return { run: await getIntervalRun(tx, row, end), is_made: true }
}

/** In whole seconds, as files are named; the next one, so that what has arrived by now is in it. */
function endOfRun(row: ExportRow, now: Date): Date {
  const next = secondOf(new Date(now.getTime() + SECOND_MS))
  return earliest(next, boundaryAfter(row, now), row.end_at && secondOf(row.end_at))
}

/** The one that it lies in, or begins. */
function secondOf(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / SECOND_MS) * SECOND_MS)
}

function assertUnderWay({ paused, start_at, end_at }: ExportRow, now: Date): void {
  if (paused) throw refused('The export is paused: unpause it first.')
  if (start_at && start_at > now) throw refused(`The export begins at ${start_at.toISOString()}.`)
  if (end_at && end_at <= now) throw refused(`The export ended at ${end_at.toISOString()}.`)
  if (end_at && secondOf(end_at) <= now)
    throw refused(`The export ends at ${end_at.toISOString()}, in less than a second.`)
}

const refused = (detail: string) => invalid(null, 'invalid_input', detail)
