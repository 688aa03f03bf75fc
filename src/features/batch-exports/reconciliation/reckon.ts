// The account of an export: every position of its project falls into exactly one of four parts. Positions are a line from
// the first to the last; the intervals of the schedule cut pieces out of it; whatever lies beyond all that will still be
// cut is pending, and what is left over is skipped. So the parts add up at any moment.
import type { Page } from '../../../platform/http/paging.ts'
import type { Services } from '../../../platform/services.ts'
import { findPosition, positionBefore } from '../engine/positions.ts'
import type { ExportRow } from '../rows.ts'
import { intervalEndingAt } from '../schedule/grid.ts'
import {
  listIntervals,
  readOutline,
  sumBackfilled,
  sumIntervals,
  type Edge,
  type IntervalRow,
  type Sums,
} from './queries.ts'

export type Account = {
  received: number
  exported: number
  filtered_out: number
  pending: number
  skipped: number
  backfilled: number
  count: number
  intervals: IntervalRow[]
}

type Stores = Pick<Services, 'db' | 'eventStore'>

/** Nobody adds intervals so often that it would have to be reckoned again more than once or twice. */
const TRIES = 5

export async function reckon(services: Stores, row: ExportRow, page: Page, now: Date): Promise<Account> {
  const { db, eventStore } = services
  const last_position = await eventStore.lastPosition(row.project_id)
  for (let left = TRIES; ; left--) {
    const outline = await readOutline(db, row)
    const edges = await findEdges(services, row.project_id, outline.open_instants, now)
    const next = await nextPosition(services, outline, last_position, now)
    const line = { last_position, edges }
    const intervals = await listIntervals(db, row, line, page)
    const sums = await sumIntervals(db, row, line)
    // Edges of intervals that were added meanwhile are not known: what lies in those could not be told from skipped.
    if (sums.intervals === outline.intervals || left === 1)
      return { ...divide(last_position, next, sums), backfilled: await sumBackfilled(db, row), intervals }
  }
}

function divide(last_position: number, next: number, sums: Sums): Omit<Account, 'backfilled' | 'intervals'> {
  // A run may have frozen later positions since the last one was asked for.
  const received = Math.max(last_position, sums.reached)
  const { exported, filtered_out } = sums
  const pending = sums.pending + Math.max(0, received - Math.max(next, sums.reached))
  return {
    received,
    exported,
    filtered_out,
    pending,
    skipped: received - exported - filtered_out - pending,
    count: sums.intervals,
  }
}

async function findEdges(
  services: Stores,
  project_id: number,
  instants: readonly Date[],
  now: Date,
): Promise<Edge[]> {
  const edges: Edge[] = []
  for (const at of instants) {
    const seq = await edgeAt(services, project_id, at, now)
    if (seq !== null) edges.push({ at, seq })
  }
  return edges
}

/** Null: it lies ahead. To ask the store for it would move the store's clock there. */
async function edgeAt(services: Stores, project_id: number, at: Date, now: Date): Promise<number | null> {
  return at > now ? findPosition(services.db, project_id, at) : positionBefore(services, project_id, at)
}

/** Where the next interval without a run begins: nothing before it will go out that has no run already. */
async function nextPosition(
  services: Stores,
  row: ExportRow,
  last_position: number,
  now: Date,
): Promise<number> {
  const isOver = row.end_at !== null && row.next_due_at > row.end_at
  const { start } = intervalEndingAt(row, row.next_due_at)
  const edge = isOver ? null : await edgeAt(services, row.project_id, start, now)
  return edge === null ? Number.POSITIVE_INFINITY : Math.min(last_position, edge)
}
