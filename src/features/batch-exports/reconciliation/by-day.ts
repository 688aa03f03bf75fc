// The account of an export by the days on which events happened, which is how backfills choose them. From the ledger comes
// what is not delivered, as areas of positions and times; the event store counts what lies in them on each day.
import { sql } from '../../../platform/db/sql.ts'
import { QueryTimeout } from '../../../platform/event-store/event-store.ts'
import type { Area, EventChoice } from '../../../platform/event-store/export-rows.ts'
import { ApiError, invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { asApiError } from '../../events/run-query.ts'
import { intersect, subtract } from '../ledger/areas.ts'
import { unclaimed } from '../ledger/claim.ts'
import { listUndelivered } from '../ledger/queries.ts'
import type { ExportRow } from '../rows.ts'
import { EVERY_ROW, selectEvents } from '../source/select.ts'
import type { Day } from './days.ts'
import { findStripes } from './open-positions.ts'
import { readOutline } from './queries.ts'
import { hasOtherIntervals } from './reconcile.ts'
import type { DayAccount } from './schema.ts'

type Stores = Pick<Services, 'db' | 'eventStore'>

/** Nobody makes runs so often that this takes more than one or two tries. */
const TRIES = 5
/** Somebody waits for the answer, and exports for the store. */
const LIMIT_MS = 10_000
/** A thousand are one read of the events. */
const MAX_AREAS = 5_000

export async function reconcileDays(
  stores: Stores,
  project: { id: number; timezone: string },
  row: ExportRow,
  days: readonly Day[],
  now: Date,
): Promise<DayAccount[]> {
  const seq_to = await stores.eventStore.lastPosition(project.id)
  const whole = { seq_from: 0, seq_to, time_from: days[0]!.start, time_to: days.at(-1)!.end }
  const open = await openAreas(stores, row, whole, now)
  const of_project = { ...project, engine: stores.eventStore.engine }
  const signal = AbortSignal.timeout(LIMIT_MS)
  const count = (events: EventChoice, areas: readonly Area[]) =>
    countByDay(stores, events, areas, days, signal)
  const chosen = selectEvents(of_project, row, now)
  const received = await count(selectEvents(of_project, EVERY_ROW, now), [whole])
  const matching = await count(chosen, [whole])
  const pending = await count(chosen, open.pending)
  const skipped = await count(chosen, open.skipped)
  return days.map(({ date, start, end }, index) => ({
    date,
    start: start.toISOString(),
    end: end.toISOString(),
    received: received[index]!,
    exported: matching[index]! - pending[index]! - skipped[index]!,
    filtered_out: received[index]! - matching[index]!,
    pending: pending[index]!,
    skipped: skipped[index]!,
  }))
}

type Open = { pending: Area[]; skipped: Area[] }

/** What is not delivered, at one moment: of it no event is in two areas. */
async function openAreas(stores: Stores, row: ExportRow, whole: Area, now: Date): Promise<Open> {
  for (let left = TRIES; ; left--) {
    const before = await readOutline(stores.db, row)
    const stripes = await findStripes(stores, before, whole.seq_to, now)
    const found = await stores.db.transaction(async (tx) => {
      await tx.run(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
      return {
        outline: await readOutline(tx, row),
        free: await unclaimed(tx, row.id, whole),
        undelivered: await listUndelivered(tx, row.id, whole),
      }
    })
    if (left > 1 && hasOtherIntervals(before, found.outline)) continue
    const coming = stripes.map(({ seq_from, seq_to }) => ({
      seq_from,
      seq_to,
      time_from: null,
      time_to: null,
    }))
    return {
      pending: [...found.undelivered, ...found.free.flatMap((area) => common(area, coming))],
      skipped: found.free.flatMap((area) => subtract(area, coming)),
    }
  }
}

function common(area: Area, others: readonly Area[]): Area[] {
  return others.flatMap((other) => intersect(area, other) ?? [])
}

async function countByDay(
  { eventStore }: Stores,
  events: EventChoice,
  areas: readonly Area[],
  days: readonly Day[],
  signal: AbortSignal,
): Promise<number[]> {
  const parts = days.flatMap(({ start, end }, day) =>
    areas.flatMap((area) => {
      const part = intersect(area, { ...area, time_from: start, time_to: end })
      return part ? [{ part, day }] : []
    }),
  )
  if (parts.length > MAX_AREAS) {
    throw invalid('after', 'invalid_input', 'What was left out lies in too many places: ask for fewer days.')
  }
  const counts = days.map(() => 0)
  if (parts.length === 0) return counts
  const measured = await eventStore
    .measureAreas(
      events,
      parts.map(({ part }) => part),
      signal,
    )
    .catch((error: unknown) => {
      throw signal.aborted ? (asApiError(new QueryTimeout()) as ApiError) : error
    })
  for (const [index, { day }] of parts.entries()) counts[day]! += measured[index]!.rows
  return counts
}
