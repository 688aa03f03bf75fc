// Sample data of a web shop: visits with page views, clicks, purchases, sign-ups and groups, in order of time. The same
// options give the same events; memory holds only the visits that are going on. For the demo, tests and benchmarks.
import type { PipelineEvent } from '../pipeline-event.ts'
import { ORIGINS } from './catalogue.ts'
import { Random } from './random.ts'
import { visitTimes } from './traffic.ts'
import { visit, type Step } from './visit.ts'
import { visitorOf, type Visitor } from './visitors.ts'
import { SoonestFirst } from './soonest-first.ts'

export type SampleOptions = {
  count: number
  seed: number
  /** The last event happens before it. */
  end: Date
  days: number
  /** Without it, one for every 45 events. */
  users?: number
}

/** About the size of one, for the bounds of a queue. */
export const SAMPLE_EVENT_BYTES = 800

type Going = { next_ms: number; events: PipelineEvent[]; at: number }

const [PLAN, VISIT, START] = [3, 4, 5]
const DAY = 86_400_000
const EVENTS_PER_USER = 45
const MEAN_FURTHER_STEPS = 7
const MAX_STEPS = 60
/** Enough for a newcomer to reach the end of the sign-up. */
const MIN_STEPS_OF_NEWCOMER = 12

export function* sampleEvents(options: SampleOptions): Generator<PipelineEvent, void, undefined> {
  const { seed, days } = options
  const end_ms = options.end.getTime()
  const timeOf = visitTimes(end_ms - days * DAY, end_ms)
  const visits = countVisits(options)
  const going = new SoonestFirst<Going>((one) => one.next_ms)
  for (const planned of plannedVisits(options)) {
    const start_ms = timeOf((planned.index + new Random(seed, START, planned.index).next()) / visits)
    yield* eventsUntil(going, start_ms)
    going.add({ next_ms: start_ms, events: eventsOf(seed, planned, start_ms, end_ms), at: 0 })
  }
  yield* eventsUntil(going, Infinity)
}

function* eventsUntil(going: SoonestFirst<Going>, ms: number): Generator<PipelineEvent> {
  for (let one = going.first(); one !== undefined && one.next_ms <= ms; one = going.first()) {
    yield one.events[one.at]!
    one.at += 1
    const next = one.events[one.at]
    if (next === undefined) going.removeFirst()
    else {
      one.next_ms = Number(next.timestamp / 1000n)
      going.firstChanged()
    }
  }
}

type PlannedVisit = { index: number; steps: number; visitor: number; is_first: boolean }

/** How long every visit is and whose: newcomers come evenly, the others were there before, some of them often. */
function* plannedVisits({ count, seed, users }: SampleOptions): Generator<PlannedVisit> {
  const eventsPerUser = users === undefined ? EVENTS_PER_USER : count / users
  let known = 0
  for (let [index, events] = [0, 0]; events < count; index += 1) {
    const is_first = events >= known * eventsPerUser
    if (is_first) known += 1
    const random = new Random(seed, PLAN, index)
    const wanted = Math.min(2 + Math.floor(random.exponential(MEAN_FURTHER_STEPS)), MAX_STEPS)
    const steps = Math.min(is_first ? Math.max(wanted, MIN_STEPS_OF_NEWCOMER) : wanted, count - events)
    yield { index, steps, is_first, visitor: is_first ? known - 1 : Math.floor(known * random.next() ** 2) }
    events += steps
  }
}

function countVisits(options: SampleOptions): number {
  let visits = 0
  for (const _ of plannedVisits(options)) visits += 1
  return visits
}

function eventsOf(
  seed: number,
  { index, steps: count, visitor: number, is_first }: PlannedVisit,
  start_ms: number,
  end_ms: number,
): PipelineEvent[] {
  const random = new Random(seed, VISIT, index)
  const visitor = visitorOf(seed, number)
  const steps: Step[] = []
  for (const step of visit(random, visitor, is_first)) if (steps.push(step) >= count) break
  const length_ms = steps.reduce((sum, { gap_ms }) => sum + gap_ms, 0)
  // A visit that would go on beyond the end is a hasty one.
  const haste = Math.min(1, (end_ms - start_ms) / (length_ms + 1))
  const common = {
    ...visitor.properties,
    ...random.pickByShare(ORIGINS).properties,
    $session_id: random.uuid7(Math.floor(start_ms)),
    $window_id: random.uuid7(Math.floor(start_ms)),
  }
  let isKnown = visitor.account !== null && !is_first
  let ms = start_ms
  return steps.map((step) => {
    isKnown ||= step.signs_in === true
    const event = eventOf(random, step, visitor, isKnown, Math.floor(ms), common)
    ms += step.gap_ms * haste
    return event
  })
}

function eventOf(
  random: Random,
  { event, properties }: Step,
  { account, device_id }: Visitor,
  isKnown: boolean,
  ms: number,
  common: object,
): PipelineEvent {
  const known = isKnown && account !== null ? account : null
  const timestamp = BigInt(ms) * 1000n
  return {
    uuid: random.uuid7(ms),
    event,
    distinct_id: known?.user_id ?? device_id,
    timestamp,
    created_at: timestamp,
    properties: {
      ...common,
      ...properties,
      ...(known ? { $user_id: known.user_id } : {}),
      ...(known?.company ? { $groups: { company: known.company.key } } : {}),
      $is_identified: known !== null,
    },
  }
}
