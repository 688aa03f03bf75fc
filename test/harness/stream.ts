// A client of streams, over a real connection: what a browser's EventSource does, without its patience.
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { until } from './until.ts'

export type Told = {
  event: string
  /** The last id up to and including this message. */
  id: string
  // Tests read data of every shape, as with answers.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any
}

export type OpenedStream = {
  status: number
  headers: Headers
  /** Messages so far. */
  told: Told[]
  /** Everything so far, as it came. */
  text(): string
  /** The id that a client would come back with. */
  lastId(): string
  isOver(): boolean
  /** Until so many messages of this name have come. */
  until(event: string, count?: number): Promise<Told[]>
  untilOver(): Promise<void>
  close(): void
}

export async function listen({ http }: TestApp): Promise<string> {
  return http.listen({ host: '127.0.0.1', port: 0 })
}

export async function openStream(
  url: string,
  { key, session, ...headers }: Record<string, string> = {},
): Promise<OpenedStream> {
  const aborted = new AbortController()
  const response = await fetch(url, {
    signal: aborted.signal,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(session ? { cookie: `sessionid=${session}` } : {}),
      ...headers,
    },
  })
  let text = ''
  let parsed = 0
  let id = ''
  let is_over = false
  const told: Told[] = []
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const bytes of response.body!) {
      // What was on its way when the client left would come after the id that it comes back with.
      if (aborted.signal.aborted) return
      text += decoder.decode(bytes as Uint8Array, { stream: true })
      for (let end = text.indexOf('\n\n', parsed); end >= 0; end = text.indexOf('\n\n', parsed)) {
        take(text.slice(parsed, end))
        parsed = end + 2
      }
    }
  }
  const take = (block: string) => {
    const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line))
    const of = (name: string) => fields.filter((field) => field?.[1] === name).map((field) => field![2]!)
    id = of('id').at(-1) ?? id
    const data = of('data').join('\n')
    if (data !== '') told.push({ event: of('event').at(-1) ?? 'message', id, data: JSON.parse(data) })
  }
  void read()
    .catch(() => undefined)
    .finally(() => (is_over = true))
  const named = (event: string) => told.filter((each) => each.event === event)
  return {
    status: response.status,
    headers: response.headers,
    told,
    text: () => text,
    lastId: () => id,
    isOver: () => is_over,
    async until(event, count = 1) {
      await until(() => expect(named(event).length).toBeGreaterThanOrEqual(count))
      return named(event)
    },
    untilOver: () => until(() => expect(is_over).toBe(true)),
    close: () => aborted.abort(),
  }
}
