// Events as they are stored, above those that were listed. They wait while somebody points at the list or has paused it.
import { useEffect, useState } from 'react'
import { useStream, type StreamState } from '../api/stream'
import type { Filter } from './filter'
import type { StoredEvent } from './queries'
import { filterQuery } from './search'

/** More than these nobody reads; the list itself has the others. */
const MOST = 1_000

type Options = {
  projectId: string
  filters: readonly Filter[]
  /** What the page shows below them. The list may be asked for again and then has some of them. */
  listed: readonly StoredEvent[]
  isOn: boolean
  /** New events wait. */
  isHeld: boolean
  /** Asked when streams do not get through, and when one has just begun: some may have come before it. */
  refresh: () => void
}

export type LiveEvents = {
  state: StreamState
  /** Newest first. */
  shown: readonly StoredEvent[]
  /** How many wait. */
  waiting: number
  /** How many the server left out, because too many came at once. */
  skipped: number
  release: () => void
}

type Arrived = { shown: readonly StoredEvent[]; held: readonly StoredEvent[]; skipped: number }
const NOTHING: Arrived = { shown: [], held: [], skipped: 0 }

export function useLiveEvents({ projectId, filters, listed, isOn, isHeld, refresh }: Options): LiveEvents {
  const [arrived, setArrived] = useState(NOTHING)
  const query = new URLSearchParams(filterQuery(filters)).toString()
  const url = `/api/projects/${projectId}/events/stream/?${query}`
  const state = useStream({
    url: isOn ? url : null,
    on: {
      event: (data) => setArrived((before) => withEvent(before, data as StoredEvent, isHeld)),
      skipped: (data) =>
        setArrived((before) => ({ ...before, skipped: before.skipped + (data as { count: number }).count })),
      gap: refresh,
    },
    poll: refresh,
  })
  useEffect(() => setArrived(NOTHING), [url, isOn])
  useEffect(() => {
    if (isOn && state === 'live') refresh()
  }, [isOn, state, url])
  useEffect(() => {
    if (!isHeld) setArrived(released)
  }, [isHeld])
  return {
    state,
    shown: notListed(arrived.shown, listed),
    waiting: notListed(arrived.held, listed).length,
    skipped: arrived.skipped,
    release: () => setArrived(released),
  }
}

export function withEvent({ shown, held, skipped }: Arrived, event: StoredEvent, isHeld: boolean): Arrived {
  if (isHeld) return { shown, held: [event, ...held].slice(0, MOST), skipped }
  return { shown: [event, ...held, ...shown].slice(0, MOST), held: [], skipped }
}

export function released({ shown, held, skipped }: Arrived): Arrived {
  return held.length === 0
    ? { shown, held, skipped }
    : { shown: [...held, ...shown].slice(0, MOST), held: [], skipped }
}

function notListed(live: readonly StoredEvent[], listed: readonly StoredEvent[]): readonly StoredEvent[] {
  if (live.length === 0) return live
  const ids = new Set(listed.map(({ id }) => id))
  return live.filter(({ id }) => !ids.has(id))
}
