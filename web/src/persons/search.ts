// What the addresses of the pages about people hold.
import type { Range } from '../ui/time-range'
import { readRange } from '../events/search'

export type PersonsSearch = { q?: string }
export const TABS = ['events', 'properties', 'ids', 'groups'] as const
export type Tab = (typeof TABS)[number]
export type PersonSearch = Range & { tab?: Tab; open?: string }

/** Addresses make a number of what looks like one. */
export function readPersonsSearch({ q }: Record<string, unknown>): PersonsSearch {
  return (typeof q === 'string' && q !== '') || typeof q === 'number' ? { q: String(q) } : {}
}

export function readPersonSearch(given: Record<string, unknown>): PersonSearch {
  const tab = TABS.find((each) => each === given.tab)
  return {
    ...readRange(given),
    ...(tab === undefined ? {} : { tab }),
    ...(typeof given.open === 'string' ? { open: given.open } : {}),
  }
}
