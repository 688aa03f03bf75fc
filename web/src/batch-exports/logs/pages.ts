// Pages of a log to which lines are added meanwhile. Pure.
import type { LogEntry } from '../queries'

export type LogPage = { offset: number; before?: string }
type Answer = { next: string | null; results: readonly LogEntry[] }

/**
 * Older lines are counted from the newest one of the first page: those that come in later are left out, and move none of them
 * to the next page. Undefined after the last page.
 */
export function nextPage(pages: readonly Answer[], before?: string): LogPage | undefined {
  const newest = pages[0]?.results[0]
  if (!newest || pages.at(-1)!.next === null) return undefined
  const offset = pages.reduce((sum, { results }) => sum + results.length, 0)
  return { offset, before: before ?? justAfter(newest.timestamp) }
}

/** The server leaves out what is of the instant itself, and tells only its milliseconds. */
const justAfter = (instant: string): string => new Date(Date.parse(instant) + 1).toISOString()
