// What the addresses of the pages about definitions hold.
import { textIn } from '../ui/address'

export const TABS = ['events', 'properties', 'person-properties'] as const
export type Tab = (typeof TABS)[number]
export const SHOWN = ['all', 'verified', 'unverified'] as const
export type Shown = (typeof SHOWN)[number]
export type DefinitionsSearch = { q?: string; show?: Shown; open?: string }

export function readDefinitionsSearch(given: Record<string, unknown>): DefinitionsSearch {
  const [q, open] = [textIn(given.q), textIn(given.open)]
  const show = SHOWN.find((each) => each === given.show)
  return {
    ...(q === undefined ? {} : { q }),
    ...(show === undefined || show === 'all' ? {} : { show }),
    ...(open === undefined ? {} : { open }),
  }
}
