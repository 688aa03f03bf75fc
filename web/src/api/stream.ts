// A live part of a page: one server-sent stream, resumed where it broke off, and plain questions when a proxy cuts it.
import { useEffect, useEffectEvent, useState } from 'react'

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

export function useStream({ url, on, poll }: Stream): StreamState {
  const [state, setState] = useState<StreamState>('connecting')
  const hear = useEffectEvent((name: string, { data, lastEventId }: MessageEvent<string>) =>
    on[name]?.(JSON.parse(data), lastEventId),
  )
  const pollOnce = useEffectEvent(() => poll?.())
  const names = Object.keys(on).join(' ')

  useEffect(() => {
    if (url === null) return
    setState('connecting')
    const source = new EventSource(url)
    let ends = 0
    let timer: ReturnType<typeof setInterval> | undefined
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
      timer ??= setInterval(pollOnce, POLL_MS)
    }
    for (const name of names.split(' ')) source.addEventListener(name, (message) => hear(name, message))
    source.addEventListener('end', () => source.close())
    return () => {
      source.close()
      clearInterval(timer)
    }
  }, [url, names])

  return state
}
