// Events in the body that PostHog's capture takes. A file is one batch, unless it is longer than a batch may be; where
// one ends depends on nothing but the files, so every attempt cuts and counts alike.
import { readLines } from '../read-lines.ts'

export const MAX_EVENTS = 5000
export const MAX_BYTES = 50 * 1000 * 1000

export type Batch = { rows: number; body: Buffer }

/** As the columns for HTTP have it, one JSON object to a line. */
type Row = {
  uuid: string
  distinct_id: string
  timestamp: string
  event: string
  properties: Record<string, unknown> | null
  elements_chain: string | null
}

/** @param taken how many rows, from the first on, were acknowledged already */
export async function* batchesOf(
  path: string,
  token: string,
  signal: AbortSignal,
  taken = 0,
): AsyncGenerator<Batch> {
  let passed = 0
  const head = headOf(token)
  const room = MAX_BYTES - Buffer.byteLength(head) - 2
  let events: Buffer[] = []
  let bytes = 0
  const close = () => ({ rows: events.length, body: bodyOf(head, events) })
  for await (const lines of readLines(path, signal)) {
    for (const line of lines) {
      if (passed++ < taken) continue
      const event = Buffer.from(eventOf(line))
      if (events.length === MAX_EVENTS || (events.length > 0 && bytes + event.length > room)) {
        yield close()
        events = []
        bytes = 0
      }
      events.push(event)
      bytes += event.length + 1
    }
  }
  if (events.length > 0) yield close()
}

export function emptyBatch(token: string): Buffer {
  return bodyOf(headOf(token), [])
}

function headOf(token: string): string {
  return `{"api_key":${JSON.stringify(token)},"historical_migration":true,"batch":[`
}

function bodyOf(head: string, events: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',')
  const pieces = events.flatMap((event, index) => (index === 0 ? [event] : [comma, event]))
  return Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(']}')])
}

function eventOf(line: string): string {
  const { uuid, distinct_id, timestamp, event, properties, elements_chain } = JSON.parse(line) as Row
  return JSON.stringify({
    uuid,
    distinct_id,
    timestamp,
    event,
    properties: {
      ...properties,
      ...(event === '$autocapture' && elements_chain ? { $elements_chain: elements_chain } : {}),
      // The address these events come from is ours, not that of whoever caused them.
      $geoip_disable: true,
    },
  })
}
