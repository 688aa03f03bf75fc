// Some of the newest rows that an export would hand on. Of a project with many events only the newest are looked at, so that
// a filter that lets nothing through does not read them all.
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { Bounds, DataInterval, Model } from '../definition.ts'
import type { SelectedRows } from '../source/select.ts'

const MAX_ROWS = 10
/** Rows are left out beyond this: an event may have a megabyte. */
const MAX_CHARACTERS = 1_000_000
/** How many of the newest events are looked at: more once these are not enough. */
const NARROW = 10_000
const WIDE = 1_000_000
const DAY_MS = 86_400_000
/** How old the other events of a session may be. */
const MONTH_MS = 30 * DAY_MS

type Sampled = {
  model: Model
  /** The rows within bounds. */
  select(bounds: Bounds): SelectedRows
  /** The end of the interval that the rows are shown for. */
  end: Date
}

export async function sampleRows(
  store: Pick<EventStore, 'lastPosition' | 'lastRows'>,
  project_id: number,
  { model, select, end }: Sampled,
  now: Date,
): Promise<Record<string, unknown>[]> {
  const last = await store.lastPosition(project_id)
  const sample = async (positions: number, start: Date | null) => {
    const seq_from = Math.max(0, last - positions)
    return store.lastRows(select(boundsOf(seq_from, last, { start, end })).rows, MAX_ROWS)
  }
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const newest = await sample(NARROW, ago(DAY_MS))
  // Persons have no positions: it is those who changed since yesterday, or all.
  const isEnough = newest.length >= MAX_ROWS
  const lines = isEnough ? newest : await sample(WIDE, model === 'persons' ? null : ago(MONTH_MS))
  return withinLimit(lines).map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Events by their positions, sessions by those of their events, persons by when they changed. */
export function boundsOf(seq_from: number, seq_to: number, interval: DataInterval): Bounds {
  const areas = [{ seq_from, seq_to, time_from: null, time_to: null }]
  return { selection: 'arrival', interval, seq_from, seq_to, areas }
}

function withinLimit(lines: readonly string[]): string[] {
  let characters = 0
  return lines.filter((line) => (characters += line.length) <= MAX_CHARACTERS)
}
