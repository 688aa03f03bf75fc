// What an export may be, as a whole and in this installation. No I/O.
import { denied, invalid } from '../../platform/http/errors.ts'
import type { Settings } from '../../platform/services.ts'
import type { Interval } from './definition.ts'
import type { DestinationKind } from './destinations/destination.ts'
import type { ExportRow } from './rows.ts'

/** Soft: nobody needs more, and each costs the scheduler a look. */
export const MAX_EXPORTS = 100

const SUB_HOURLY: readonly Interval[] = ['every 5 minutes', 'every 15 minutes']

/** Settings of the destination that a table, once it has rows, cannot follow. */
export const FIXED_ONCE_DELIVERED: Readonly<Record<string, readonly string[]>> = {
  BigQuery: ['use_json_type'],
}

type Offer = Pick<Settings, 'disabled_destinations' | 'sub_hourly_exports'>

/** What whoever runs this installation has switched off. */
export function assertOffered(settings: Offer, wanted: { type?: string; interval?: Interval }): void {
  if (wanted.type !== undefined && settings.disabled_destinations.includes(wanted.type)) {
    throw denied('Exports to this type of destination are switched off here.')
  }
  const isSubHourly = wanted.interval !== undefined && SUB_HOURLY.includes(wanted.interval)
  if (isSubHourly && !settings.sub_hourly_exports) {
    throw denied('Exports more often than once an hour are switched off here.')
  }
}

export function assertRoom(count: number): void {
  if (count < MAX_EXPORTS) return
  throw invalid(null, 'invalid_input', `A project can have ${MAX_EXPORTS} batch exports at most.`)
}

type Whole = Choice & Times

type Choice = Pick<ExportRow, 'model' | 'hogql_query' | 'filters' | 'config' | 'destination_alias'>

type Times = Pick<ExportRow, 'interval' | 'offset_day' | 'offset_hour' | 'start_at' | 'end_at'>

/** The rules that hold between fields, whichever of them was changed. */
export function assertSound(row: Whole, kind: DestinationKind): void {
  assertSoundRows(row, kind)
  assertSoundTimes(row)
}

/** As far as they are about what goes out. */
export function assertSoundRows(row: Choice, kind: DestinationKind): void {
  if (!kind.models.includes(row.model)) {
    throw invalid('model', 'invalid_input', `${kind.type} takes ${kind.models.join(', ')} only.`)
  }
  if (row.hogql_query !== null && row.model !== 'events') {
    throw invalid('hogql_query', 'invalid_input', 'Columns can be chosen for the model events only.')
  }
  if (row.hogql_query !== null && !kind.takes_custom_columns) {
    throw invalid('hogql_query', 'invalid_input', `The columns for ${kind.type} are fixed.`)
  }
  assertEndpointNamed(row)
  assertPersonsWanted(row)
  if (row.model !== 'events') assertUnfiltered(row)
}

/** As far as they are about when. */
export function assertSoundTimes(row: Times): void {
  assertOffsets(row)
  assertTimes(row)
}

/** Without one the rows, and the credentials, would go to Amazon. */
function assertEndpointNamed({ destination_alias, config }: Choice): void {
  if (destination_alias !== 'S3Compatible' || config.endpoint_url !== null) return
  throw invalid('destination__endpoint_url', 'invalid_input', 'S3Compatible needs the address of its server.')
}

/** Ignored in silence, it would leave people waiting for columns that never come. */
function assertPersonsWanted({ model, hogql_query, config }: Choice): void {
  if (config.include_person_properties !== true || (model === 'events' && hogql_query === null)) return
  const detail =
    hogql_query === null
      ? 'Only the model events has person properties to add: leave this out.'
      : 'With `hogql_query` the columns are those it selects: add person_properties there, and leave this out.'
  throw invalid('destination__include_person_properties', 'invalid_input', detail)
}

/** Left out in silence, filters would let through what was to stay. */
function assertUnfiltered({ filters, config }: Choice): void {
  if (filters !== null && filters.length > 0) {
    throw invalid('filters', 'invalid_input', 'Rows can be filtered for the model events only.')
  }
  for (const list of ['include_events', 'exclude_events']) {
    const names = config[list]
    if (Array.isArray(names) && names.length > 0) {
      throw invalid(`destination__${list}`, 'invalid_input', 'Events can be named for the model events only.')
    }
  }
}

function assertTimes({ start_at, end_at }: Times): void {
  if (start_at === null || end_at === null || end_at > start_at) return
  throw invalid('end_at', 'invalid_input', 'An export that ends before it starts never runs.')
}

/**
 * Until then runs are owed: a date far ahead would owe them by the million. Asked of what was sent alone: a pause that is
 * stored may be younger than a request that had to wait for it.
 */
export function assertPauseBegun(last_paused_at: Date | null | undefined, now: Date): void {
  if (!last_paused_at || last_paused_at <= now) return
  throw invalid('last_paused_at', 'invalid_input', 'A pause cannot have begun in the future.')
}

function assertOffsets({ interval, offset_day, offset_hour }: Times): void {
  if (offset_day !== null && !hasDay(interval)) {
    throw invalid('offset_day', 'invalid_input', 'Only weekly exports have a day.')
  }
  if (offset_hour !== null && !hasHour(interval)) {
    throw invalid('offset_hour', 'invalid_input', 'Only daily and weekly exports have an hour.')
  }
}

/** What of the stored offsets another interval has use for; the rest goes with the old interval. */
export function offsetsFor(
  interval: Interval,
  { offset_day, offset_hour }: Pick<ExportRow, 'offset_day' | 'offset_hour'>,
): Pick<ExportRow, 'offset_day' | 'offset_hour'> {
  return {
    offset_day: hasDay(interval) ? offset_day : null,
    offset_hour: hasHour(interval) ? offset_hour : null,
  }
}

function hasDay(interval: Interval): boolean {
  return interval === 'week'
}

function hasHour(interval: Interval): boolean {
  return interval === 'week' || interval === 'day'
}
