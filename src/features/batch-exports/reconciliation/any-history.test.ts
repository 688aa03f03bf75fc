// The account of any history: hours of the schedule, done, failed, repeated or skipped, and backfills that take late events
// before or after the hour's own run. Checked event by event against a model that knows neither positions nor areas.
// @module-tag slow
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { makeEvent, micros } from '../../events/listing/fixture/events.ts'
import { insertProject } from '../../projects/queries.ts'
import type { Definition } from '../definition.ts'
import type { ExportRow, RunRow, RunStatus } from '../rows.ts'
import { addBackfill, addExport, addRun, claimEvents } from '../runs/fixture/rows.ts'

const SEED = Number(process.env.RECONCILIATION_SEED ?? 20_240_601)
const HISTORIES = IS_LONG ? 40 : 15
const HOUR = 3_600_000
/** Hours that have passed; the one after them has begun and not ended. */
const HOURS = 8
const MAX_BACKFILLS = 5
const ENDED = ['Completed', 'Failed', 'FailedRetryable', 'Cancelled', 'TimedOut'] as const
const STATUSES: readonly RunStatus[] = [...ENDED, 'Starting', 'Running']
const LEFT_OUT = 'left out'
const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }
const definitionOf = ({ is_filtered }: Attempt): Definition => ({
  model: 'events',
  destination_type: 'NoOp',
  config: is_filtered ? { exclude_events: [LEFT_OUT] } : {},
  hogql_query: null,
  filters: null,
  timezone: 'UTC',
})

/** `late`: how many hours after it happened the event arrived. */
const anEvent = fc.record({
  late: fc.constantFrom(0, 0, 0, 1, 2, 5),
  is_left_out: fc.constantFrom(true, false, false),
})

/**
 * One run: `is_frozen` when it had claimed its events, `is_counted` when it knew how many pass the filters, if there were
 * any by then.
 */
const anAttempt = fc
  .record({
    status: fc.constantFrom(...STATUSES),
    is_frozen: fc.boolean(),
    is_counted: fc.boolean(),
    is_filtered: fc.constantFrom(true, true, false),
  })
  .map(({ is_frozen, is_counted, ...attempt }) => {
    const isDone = attempt.status === 'Completed'
    const isFrozen = isDone || (attempt.status !== 'Starting' && is_frozen)
    return { ...attempt, is_frozen: isFrozen, is_counted: isDone || (isFrozen && is_counted) }
  })
type Attempt = typeof anAttempt extends fc.Arbitrary<infer Value> ? Value : never
/** The first run of a delivery and those that repeat it. */
const attempts = fc.array(anAttempt, { minLength: 1, maxLength: 3 })

const history = fc.record({
  hours: fc.array(
    fc.record({
      events: fc.array(anEvent, { maxLength: 5 }),
      /** Rows that a completed run left out nevertheless. */
      given_up: fc.constantFrom(0, 0, 0, 1),
      /** None while the export was paused, or not there yet. */
      attempts: fc.oneof(fc.constant<Attempt[]>([]), attempts),
    }),
    { minLength: HOURS, maxLength: HOURS },
  ),
  events_now: fc.array(anEvent, { maxLength: 4 }),
  /** Each covers one hour of event time, and was requested when the events of hour `until` had arrived. */
  backfills: fc.array(
    fc.record({ hour: fc.integer({ min: -2, max: HOURS }), until: fc.nat(HOURS), attempts }),
    { maxLength: MAX_BACKFILLS },
  ),
  /** Who claims first. */
  turns: fc.array(fc.nat(999), { minLength: HOURS + MAX_BACKFILLS, maxLength: HOURS + MAX_BACKFILLS }),
  /** How many hours after the last run the next is due. */
  wait: fc.oneof(fc.nat(3), fc.constant(100)),
  is_over: fc.boolean(),
  paused: fc.boolean(),
})
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never

type Point = { position: number; arrived: number; happened: number; is_left_out: boolean }
type Delivery = {
  /** The hour that a scheduled run is about; null for a backfill. */
  interval: number | null
  backfill: History['backfills'][number] | null
  attempts: Attempt[]
  given_up: number
  turn: number
  events: Point[]
}

let app: TestApp
let workspace: Workspace
let began: Date
beforeAll(async () => {
  app = await startTestApp({ EVENT_MEMORY_MB: '1024' })
  workspace = await createOrganization(app)
  const this_hour = Math.floor(app.services.now().getTime() / HOUR) * HOUR
  began = new Date(this_hour - HOURS * HOUR)
})
afterAll(() => app.close())

/** Where the hour of this number begins. */
const hour = (index: number) => new Date(began.getTime() + index * HOUR)
const eventsIn = ({ hours, events_now }: History, index: number) => hours[index]?.events ?? events_now

function pointsOf(past: History): Point[] {
  const arrivals = Array.from({ length: HOURS + 1 }, (_, arrived) =>
    eventsIn(past, arrived).map(({ late, is_left_out }) => ({
      arrived,
      happened: arrived - late,
      is_left_out,
    })),
  )
  return arrivals.flat().map((point, index) => ({ ...point, position: index + 1 }))
}

/** In order of their claims: each gets what those before it have left. */
function deliveriesOf(past: History): Delivery[] {
  const of_hours = past.hours.flatMap(({ attempts: runs, given_up }, interval) =>
    runs.length > 0 ? [{ interval, backfill: null, attempts: runs, given_up }] : [],
  )
  const of_backfills = past.backfills.map((backfill) => ({
    interval: null,
    backfill,
    attempts: backfill.attempts,
    given_up: 0,
  }))
  const free = new Set(pointsOf(past))
  return [...of_hours, ...of_backfills]
    .map((delivery, index) => ({ ...delivery, turn: past.turns[index]! }))
    .toSorted((one, other) => one.turn - other.turn)
    .map((delivery) => {
      const isChosen = ({ arrived, happened }: Point) =>
        delivery.backfill
          ? happened === delivery.backfill.hour && arrived <= delivery.backfill.until
          : arrived === delivery.interval
      const isFrozen = delivery.attempts.some(({ is_frozen }) => is_frozen)
      const events = isFrozen ? [...free].filter(isChosen) : []
      for (const event of events) free.delete(event)
      return { ...delivery, events }
    })
}

const decisive = ({ attempts: runs }: Delivery) =>
  runs.findLast(({ status }) => status === 'Completed') ?? runs.at(-1)!
/** The run whose filters decide about the delivery's events. */
const chooser = ({ attempts: runs }: Delivery) =>
  runs.findLast(({ status }) => status === 'Completed') ?? runs.findLast(({ is_frozen }) => is_frozen)!
const passing = ({ events }: Delivery, { is_filtered }: Attempt) =>
  events.filter(({ is_left_out }) => !(is_left_out && is_filtered))

const PARTS = ['received', 'exported', 'filtered_out', 'pending', 'skipped'] as const
type Part = Exclude<(typeof PARTS)[number], 'received'>
type Counts = Record<(typeof PARTS)[number], number>
const zero = (): Counts => ({ received: 0, exported: 0, filtered_out: 0, pending: 0, skipped: 0 })
const countsOf = (from: Counts) => Object.fromEntries(PARTS.map((part) => [part, from[part]])) as Counts
const isBalanced = ({ received, exported, filtered_out, pending, skipped }: Counts) =>
  received === exported + filtered_out + pending + skipped

function nextHour({ hours, wait }: History): number {
  const next = hours.findLastIndex(({ attempts: runs }) => runs.length > 0) + 1 + wait
  return wait === 100 ? 100 : Math.min(next, HOURS)
}

/** What became of an event that a run has claimed; whether it passed the filters is known once the rows are counted. */
function partOf(event: Point, delivery: Delivery, attempt: Attempt, isKnown: boolean): Part {
  const rows = passing(delivery, attempt)
  if (isKnown && !rows.includes(event)) return 'filtered_out'
  if (attempt.status !== 'Completed') return 'pending'
  return rows.indexOf(event) < delivery.given_up ? 'skipped' : 'exported'
}

function expected(past: History, deliveries: readonly Delivery[]) {
  const [totals, of_hours, next] = [zero(), new Map<number, Counts>(), nextHour(past)]
  const owners = new Map(
    deliveries.flatMap((delivery) => delivery.events.map((event) => [event.position, delivery])),
  )
  past.hours.forEach(({ attempts: runs }, index) => runs.length > 0 && of_hours.set(index, zero()))
  const add = (counts: Counts | undefined, part: Part) => {
    if (!counts) return
    counts.received++
    counts[part]++
  }
  let backfilled = 0
  for (const { position, arrived } of pointsOf(past)) {
    const owner = owners.get(position)
    const event = owner?.events.find((each) => each.position === position)
    const own = of_hours.get(arrived)
    if (!owner || !event) {
      const isLeft = !own && (arrived < next || past.is_over)
      add(totals, isLeft ? 'skipped' : 'pending')
      add(own, 'pending')
      continue
    }
    const part = partOf(event, owner, decisive(owner), decisive(owner).is_counted)
    add(totals, part)
    if (owner.backfill && part === 'exported') backfilled++
    // An hour's figures go by the filters of the backfill that took its events.
    add(own, owner.backfill ? partOf(event, owner, chooser(owner), true) : part)
  }
  return { totals, of_hours, backfilled }
}

async function arrive(histories: readonly { project_id: number; past: History }[], index: number) {
  const now = new Date(hour(index).getTime() + HOUR / 2)
  const writes = histories.map(({ project_id, past }) => ({
    project_id,
    events: eventsIn(past, index).map(({ late, is_left_out }) =>
      makeEvent(
        { event: is_left_out ? LEFT_OUT : 'click', timestamp: micros(new Date(now.getTime() - late * HOUR)) },
        now,
      ),
    ),
    ...NO_COPIES,
  }))
  await app.services.eventStore.write(writes, now)
}

/** The rows that the engine would have left: runs, their claims in turn, and what they say of themselves. */
async function addHistory(project_id: number, past: History, deliveries: readonly Delivery[]) {
  const next_due_at = hour(nextHour(past) + 1)
  const end_at = past.is_over ? new Date(next_due_at.getTime() - 1) : null
  const row = await addExport(app.db, project_id, began, { next_due_at, end_at, paused: past.paused })
  const runs = new Map<Delivery, RunRow[]>()
  for (const delivery of deliveries) runs.set(delivery, await addDelivery(row, past, delivery))
  return { row, runs }
}

async function addDelivery(row: ExportRow, past: History, delivery: Delivery): Promise<RunRow[]> {
  const { interval, backfill } = delivery
  const arrivedBefore = (index: number) => pointsOf(past).filter(({ arrived }) => arrived < index).length
  const index = interval ?? backfill!.hour
  const positions = backfill
    ? { seq_from: 0, seq_to: arrivedBefore(backfill.until + 1) }
    : { seq_from: arrivedBefore(index), seq_to: arrivedBefore(index + 1) }
  const runs: RunRow[] = []
  for (const [number, attempt] of delivery.attempts.entries()) {
    const { status, is_frozen, is_counted } = attempt
    const matching = passing(delivery, attempt).length
    const now = new Date(hour(HOURS).getTime() + number)
    const isRepeat = number > 0
    const made = backfill || isRepeat ? await addBackfill(app.db, row, now) : null
    const run = await addRun(app.db, row, now, {
      data_interval_start: hour(index),
      data_interval_end: hour(index + 1),
      selection: backfill ? 'timestamp' : 'arrival',
      ...(is_frozen ? { ...positions, definition: definitionOf(attempt) } : {}),
      status,
      backfill_id: made?.id ?? null,
      repeats: runs[0]?.id ?? null,
      records_total_count: is_counted ? matching : null,
      records_completed: status === 'Completed' ? matching - Math.min(delivery.given_up, matching) : null,
    })
    if (is_frozen) await claimEvents(app.db, run)
    runs.push(run)
  }
  return runs
}

/** Runs that hold rows of an hour: its own when it completed, and those of backfills that took some before. */
function holdersOf(index: number, runs: ReadonlyMap<Delivery, RunRow[]>): string[] {
  return [...runs].flatMap(([delivery, own]) => {
    const done = own.findLast(({ status }) => status === 'Completed')
    if (delivery.backfill) {
      const holder = done ?? own.findLast(({ definition }) => definition !== null)
      return delivery.events.some(({ arrived }) => arrived === index) ? [holder!.id] : []
    }
    const hasRows = delivery.interval === index && (done?.records_completed ?? 0) > 0
    return hasRows ? [done!.id] : []
  })
}

type Shown = Counts & { data_interval_end: string; runs: string[] }

it('GET …/reconciliation/ 200: what was received was exported or filtered out, is pending or was skipped', async () => {
  const histories = await Promise.all(
    fc.sample(history, { numRuns: HISTORIES, seed: SEED }).map(async (past) => ({
      past,
      project_id: (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id,
    })),
  )
  for (let index = 0; index <= HOURS; index++) await arrive(histories, index)
  for (const { project_id, past } of histories) {
    const deliveries = deliveriesOf(past)
    const { row, runs } = await addHistory(project_id, past, deliveries)
    const url = `/api/projects/${project_id}/batch_exports/${row.id}/reconciliation/`
    const { status, body } = await app.get(url, { key: workspace.owner.key })
    const told = JSON.stringify(past)
    expect(status, told).toBe(200)
    // Some figures are stored at the first request: the second must give the same.
    expect((await app.get(url, { key: workspace.owner.key })).body, told).toEqual(body)
    const { totals, of_hours, backfilled } = expected(past, deliveries)
    expect({ ...countsOf(body.totals), backfilled: body.totals.backfilled }, told).toEqual({
      ...totals,
      backfilled,
    })
    const shown = body.results.map((each: Shown) => [
      each.data_interval_end,
      countsOf(each),
      each.runs.toSorted(),
    ])
    const wanted = [...of_hours].map(([index, counts]) => [
      hour(index + 1).toISOString(),
      counts,
      holdersOf(index, runs).toSorted(),
    ])
    expect(shown, told).toEqual(wanted.toReversed())
    expect([body.totals, ...body.results].every(isBalanced)).toBe(true)
  }
})
