// Sessions of a run: those with an event among the run's own, put together from their events of up to three days before the
// run, and of up to a day before its earliest event: no session is longer.
// A session that goes on later is exported again, as it is then.
import { SESSION_VALUES, type Area } from '../../../platform/event-store/export-rows.ts'
import type { Bounds } from '../definition.ts'
import type { SourceColumn, SourceRows } from './source-rows.ts'

const LOOKBACK_MS = 3 * 86_400_000

const COLUMNS: readonly SourceColumn[] = Object.entries(SESSION_VALUES).map(([name, type]) => ({
  name,
  of: name,
  type,
  ...(name === 'team_id' ? { hint: 'int32' } : {}),
}))

export function sessionRows(bounds: Bounds): SourceRows {
  const { start } = bounds.interval
  const since = start === null ? null : new Date(start.getTime() - LOOKBACK_MS)
  return {
    source: { model: 'sessions', own: ownEvents(bounds), since },
    columns: COLUMNS,
    found_by: 'session id',
  }
}

function ownEvents({ selection, interval: { start, end }, seq_from, seq_to }: Bounds): Area {
  return selection === 'arrival'
    ? { seq_from, seq_to, time_from: null, time_to: null }
    : { seq_from: 0, seq_to, time_from: start, time_to: end }
}
