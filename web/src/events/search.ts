// What the address of the explorer holds, and the question to the API that follows from it.
import type { Range } from '../ui/time-range'
import { readFilters, type Filter } from './filter'

export type EventsSearch = Range & {
  filters?: Filter[]
  /** Properties shown beside event and person; `person:` before those of the person. */
  columns?: string[]
  /** The id of the event whose details are open. */
  open?: string
  live?: true
}

const MAX_COLUMNS = 12

export function readEventsSearch(given: Record<string, unknown>): EventsSearch {
  const filters = readFilters(given.filters)
  const columns = Array.isArray(given.columns)
    ? given.columns.filter((name): name is string => typeof name === 'string').slice(0, MAX_COLUMNS)
    : undefined
  return {
    ...readRange(given),
    ...(filters.length > 0 ? { filters } : {}),
    ...(columns ? { columns } : {}),
    ...(typeof given.open === 'string' ? { open: given.open } : {}),
    ...(given.live === true ? { live: true as const } : {}),
  }
}

export function readRange(given: Record<string, unknown>): Range {
  return {
    ...(typeof given.after === 'string' ? { after: given.after } : {}),
    ...(typeof given.before === 'string' ? { before: given.before } : {}),
  }
}

/** What both the list and the stream are asked with. */
export function filterQuery(filters: readonly Filter[], person_id?: string): Record<string, string> {
  return {
    ...(filters.length > 0 ? { properties: JSON.stringify(filters) } : {}),
    ...(person_id === undefined ? {} : { person_id }),
  }
}
