// A live part of a page: one server-sent stream, resumed where it broke off, and plain questions when a proxy cuts it.
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { isConnectionLost, onConnection } from './connection'

export type StreamState = 'connecting' | 'live' | 'polling'

type Stream = {
  /** Null while nothing is to be heard. */
  url: string | null
  /** By the name of the message; `id` is what the server resumes from. */
  on: Readonly<Record<string, (data: unknown, id: string) => void>>
  /** What to do every few seconds when streams do not get through. */
  poll?: () => void
}

/** A proxy that buffers or cuts streams is noticed after so many ends without a message. */
const ENDS_UNTIL_POLLING = 3
const POLL_MS = 5_000
/** A proxy may be mended, a server come back. */
const TRY_AGAIN_MS = 60_000

export function useStream({ url, on, poll }: Stream): StreamState {
  const [state, setState] = useState<StreamState>('connecting')
  const [tries, setTries] = useState(0)
  const heard = useRef({ url, id: '' })
  const hear = useEffectEvent((name: string, { data, lastEventId }: MessageEvent<string>) => {
    heard.current.id = lastEventId
    on[name]?.(JSON.parse(data), lastEventId)
  })
  const pollOnce = useEffectEvent(() => poll?.())
  const names = Object.keys(on).join(' ')

  useEffect(() => {
    if (url === null) return
    if (heard.current.url !== url) heard.current = { url, id: '' }
    setState('connecting')
    const source = new EventSource(resumed(url, heard.current.id))
    let ends = 0
    let polls: ReturnType<typeof setInterval> | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    const tryAgain = () => setTries((before) => before + 1)
    source.onopen = () => {
      ends = 0
      setState('live')
    }
    source.onerror = () => {
      ends += 1
      const isOver = source.readyState === EventSource.CLOSED || ends >= ENDS_UNTIL_POLLING
      setState(isOver ? 'polling' : 'connecting')
      if (!isOver) return
      source.close()
      polls ??= setInterval(pollOnce, POLL_MS)
      again ??= setTimeout(tryAgain, TRY_AGAIN_MS)
    }
    const stopWatching = onConnection(() => {
      if (polls !== undefined && !isConnectionLost()) tryAgain()
    })
    for (const name of names.split(' ')) source.addEventListener(name, (message) => hear(name, message))
    source.addEventListener('end', () => source.close())
    return () => {
      source.close()
      stopWatching()
      clearInterval(polls)
      clearTimeout(again)
    }
  }, [url, names, tries])

  return state
}

/** A new stream knows nothing of the one before. */
function resumed(url: string, id: string): string {
  if (id === '') return url
  const whole = new URL(url, location.origin)
  whole.searchParams.set('last_event_id', id)
  return `${whole.pathname}${whole.search}`
}
