// How many events a run has claimed, and who took which part of a scheduled interval. Claims never change, so whoever counts
// gets the same; the figures are kept for reconciliation.
import { isDeepStrictEqual } from 'node:util'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { Area, EventChoice } from '../../../platform/event-store/export-rows.ts'
import type { Services } from '../../../platform/services.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { EVERY_ROW, selectEvents } from '../source/select.ts'
import { intersect } from './areas.ts'
import { deliveryIdOf } from './claim.ts'
import {
  insertShares,
  keepCounts,
  listBackfilled,
  listChoices,
  listClaims,
  listUnshared,
  type Choice,
  type Claim,
  type Share,
} from './queries.ts'

/** For filters in which nothing is relative to the time of the run. */
const NO_TIME = new Date(0)

type Stores = Pick<Services, 'db' | 'eventStore'>
type Claimant = Pick<
  RunRow,
  'id' | 'repeats' | 'project_id' | 'batch_export_id' | 'selection' | 'seq_from' | 'seq_to' | 'definition'
>

/** Counts what has not been counted, and returns the sum of all claims of the delivery. */
export async function countClaimed(stores: Stores, run: Claimant, signal: AbortSignal): Promise<number> {
  if (run.definition!.model !== 'events') return 0
  if (run.selection === 'arrival') await countShares(stores, run, signal)
  const claims = await listClaims(stores.db, run.batch_export_id, [deliveryIdOf(run)])
  const counted = await withCounts(stores, run.project_id, run.batch_export_id, claims, signal)
  return counted.reduce((sum, { events }) => sum + events, 0)
}

/** Counts the claims that have no figure yet, and stores the figures. */
export async function withCounts(
  { db, eventStore }: Stores,
  project_id: number,
  batch_export_id: string,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<(Claim & { events: number })[]> {
  const open = claims.filter(({ events }) => events === null)
  if (open.length === 0) return claims as (Claim & { events: number })[]
  const measured = await eventStore.measureAreas(everyEvent(eventStore, project_id), open, signal)
  const counted = open.map((claim, index) => ({ ...claim, events: measured[index]!.rows }))
  await keepCounts(db, { id: batch_export_id }, counted)
  return [...claims.filter(({ events }) => events !== null), ...counted] as (Claim & { events: number })[]
}

/** For runs of the schedule that died between claiming their events and saying who had the others. */
export async function shareOut(
  stores: Stores,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  signal: AbortSignal,
): Promise<void> {
  const holes = await stores.eventStore.holes(project_id)
  for (const run of await listUnshared(stores.db, project_id, id, holes)) {
    await countShares(stores, run, signal)
  }
}

/** A backfill that came before the interval's own run has taken some of the events that arrived in it. */
async function countShares(stores: Stores, run: Claimant, signal: AbortSignal): Promise<void> {
  const { db } = stores
  const stripe: Area = { seq_from: run.seq_from!, seq_to: run.seq_to!, time_from: null, time_to: null }
  if (stripe.seq_from >= stripe.seq_to) return
  const claims = await listBackfilled(db, run.batch_export_id, stripe)
  if (claims.length === 0) return
  const parts = claims.flatMap((claim) => {
    const common = intersect(claim, stripe)
    return common ? [{ ...common, run_id: claim.run_id }] : []
  })
  const measured = await measureParts(stores, run.project_id, parts, signal)
  await insertShares(db, sharesOf(deliveryIdOf(run), measured))
}

/** `run_id` is the first run of the delivery, `holder` the one of its runs that counts. */
export type Part = Area & { run_id: string }
export type MeasuredPart = Part & { holder: string; events: number; rows: number }

/**
 * Measures parts of what backfills have claimed: how many events there are, and how many passed their run's filters.
 */
export async function measureParts(
  { db, eventStore }: Stores,
  project_id: number,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<MeasuredPart[]> {
  if (parts.length === 0) return []
  const every = everyEvent(eventStore, project_id)
  const events = await eventStore.measureAreas(every, parts, signal)
  const ids = [...new Set(parts.map(({ run_id }) => run_id))]
  const choices = new Map((await listChoices(db, project_id, ids)).map((choice) => [choice.run_id, choice]))
  const rows = new Map<Part, number>()
  for (const group of groupByChoice(eventStore, project_id, parts, choices)) {
    const leavesOut = group.chosen !== null && !isDeepStrictEqual(group.chosen, every)
    const found = leavesOut ? await eventStore.measureAreas(group.chosen!, group.parts, signal) : null
    for (const [index, part] of group.parts.entries()) {
      rows.set(part, found ? found[index]!.rows : events[parts.indexOf(part)]!.rows)
    }
  }
  return parts.map((part, index) => ({
    ...part,
    holder: choices.get(part.run_id)?.holder ?? part.run_id,
    events: events[index]!.rows,
    rows: rows.get(part)!,
  }))
}

type Group = { chosen: EventChoice | null; parts: Part[] }

/** Puts runs with the same filters into one query: a backfill may have hundreds of runs. */
function groupByChoice(
  store: EventStore,
  project_id: number,
  parts: readonly Part[],
  choices: ReadonlyMap<string, Choice>,
): Group[] {
  const groups = new Map<string, Group>()
  for (const part of parts) {
    const choice = choices.get(part.run_id)
    const key = choice ? choiceKey(choice) : ''
    const group = groups.get(key) ?? {
      chosen: choice ? eventsOf(store, project_id, choice) : null,
      parts: [],
    }
    group.parts.push(part)
    groups.set(key, group)
  }
  return [...groups.values()]
}

function everyEvent({ engine }: EventStore, id: number): EventChoice {
  return selectEvents({ id, timezone: 'UTC', engine }, EVERY_ROW, NO_TIME)
}

function eventsOf({ engine }: EventStore, id: number, { definition, created_at }: Choice): EventChoice {
  return selectEvents({ id, timezone: definition.timezone, engine }, definition, created_at)
}

/** Relative times in filters count from the making of the run. */
function choiceKey({ definition, created_at }: Choice): string {
  const { config, filters, hogql_query, timezone } = definition
  const names = [config.include_events ?? null, config.exclude_events ?? null]
  const isTimeless = hogql_query === null && (filters === null || filters.length === 0)
  return JSON.stringify(isTimeless ? names : [names, filters, hogql_query, timezone, created_at])
}

function sharesOf(interval_run_id: string, parts: readonly MeasuredPart[]): Share[] {
  const shares = new Map<string, Share>()
  for (const { holder, events, rows } of parts) {
    const share = shares.get(holder) ?? { interval_run_id, run_id: holder, events: 0, rows: 0 }
    shares.set(holder, { ...share, events: share.events + events, rows: share.rows + rows })
  }
  return [...shares.values()].filter(({ events }) => events > 0)
}
