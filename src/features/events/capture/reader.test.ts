// @module-tag slow
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import lz from 'lz-string'
import { afterAll, describe, expect, it } from 'vitest'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { LargeBodies } from './large-bodies.ts'
import type { CaptureBody, Reading } from './read-capture.ts'
import { openReader } from './reader.ts'
import { Refusal } from './refusal.ts'

// Where a body is read makes no difference to what is read: both ways are held against the same expectations.

const MB = 1024 * 1024
const body = (content: string | Buffer, fields: Partial<CaptureBody> = {}): CaptureBody => ({
  bytes: Buffer.from(content as string),
  content_type: 'application/json',
  content_encoding: undefined,
  compression: undefined,
  outer_token: undefined,
  sent_ms: undefined,
  missing_name: undefined,
  now: new Date('2024-06-01T12:00:00Z'),
  ...fields,
})

const batch = (count: number, filler = 900) =>
  JSON.stringify({
    api_key: 'phc_1',
    batch: Array.from({ length: count }, (_, at) => ({
      event: `event ${at}`,
      distinct_id: `d${at % 7}`,
      timestamp: '2024-06-01T10:00:00.123456Z',
      properties: { at, filler: 'x'.repeat(filler), nested: { list: [at, null, 'ü'] } },
    })),
  })

const reader = openReader()
afterAll(() => reader.close())
const read = (given: CaptureBody, sender = 'one'): Promise<Reading> => reader.read(given, sender)

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => 'accepted',
    (reason: unknown) => reason,
  )
  return error instanceof Refusal ? error.fault : error
}

const TRIES = 5

/** Longest time the main thread was kept from its timers, as a share of the whole. */
async function longestPause<T>(work: Promise<T>): Promise<{ result: T; share: number }> {
  const start = performance.now()
  let last = start
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const result = await work
  clearInterval(timer)
  longest = Math.max(longest, performance.now() - last)
  return { result, share: longest / (performance.now() - start) }
}

describe('a large body', () => {
  it.each<[string, (json: string) => CaptureBody]>([
    ['plain', (json) => body(json)],
    ['gzip, small on the wire', (json) => body(gzipSync(json))],
    [
      'a form',
      (json) =>
        body(`data=${encodeURIComponent(json)}`, { content_type: 'application/x-www-form-urlencoded' }),
    ],
  ])('is read whole and in order, in slices: %s', async (_, pack) => {
    const { token, events, fault, bytes } = await read(pack(batch(3000)))
    expect({ token, fault }).toEqual({ token: 'phc_1', fault: null })
    expect(bytes).toBe(Buffer.byteLength(batch(3000)))
    expect(events).toHaveLength(3000)
    expect(events.map(({ event }) => event)).toEqual(Array.from({ length: 3000 }, (_, at) => `event ${at}`))
    expect(events[2999]).toMatchObject({
      distinct_id: 'd3',
      timestamp: 1717236000123456n,
      created_at: 1717243200000000n,
      properties: { at: 2999, nested: { list: [2999, null, 'ü'] } },
    })
  })

  it('of lz64 is read elsewhere too', async () => {
    const packed = body(lz.compressToBase64(batch(300, 3000)), { compression: 'lz64' })
    expect((await read(packed)).events).toHaveLength(300)
  })

  it('does not hold up the main thread', async () => {
    const text = batch(15_000)
    expect(text.length).toBeGreaterThan(14 * MB)
    const shares: number[] = []
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const { result, share } = await longestPause(read(body(text)))
      expect(result.events).toHaveLength(15_000)
      shares.push(share)
    }
    // Whatever else the machine does only adds to it.
    expect(Math.min(...shares)).toBeLessThan(0.25)
  })

  it.each<[string, () => CaptureBody, unknown]>([
    ['no JSON', () => body(`{"a":"${'x'.repeat(MB)}`), { code: 'invalid_payload' }],
    ['no token', () => body(JSON.stringify([{ event: 'x'.repeat(MB) }])), { code: 'missing_api_key' }],
    ['a bomb', () => body(gzipSync(Buffer.alloc(30 * MB, 0x20))), { code: 'payload_too_large' }],
    [
      'a bomb in a form',
      () => body(`data=${encodeURIComponent(gzipSync(Buffer.alloc(30 * MB)).toString('base64'))}`),
      { code: 'payload_too_large' },
    ],
    ['nesting', () => body('['.repeat(MB) + ']'.repeat(MB)), { code: 'invalid_payload' }],
  ])('is refused as a small one is: %s', async (_, make, expected) => {
    expect(await refusalOf(read(make()))).toMatchObject(expected as object)
  })

  it('with a bad event keeps the fault for after the token', async () => {
    const json = batch(2000).replace('"event":"event 1500"', '"event":""')
    expect(await read(body(json))).toMatchObject({
      token: 'phc_1',
      events: [],
      fault: { code: 'invalid_payload', attr: 'batch__1500__event' },
    })
  })

  it('waits its turn behind others and mixes with none', async () => {
    const counts = [1200, 700, 2500, 900]
    const readings = await Promise.all(counts.map((count) => read(body(batch(count)))))
    expect(readings.map(({ events }) => events.length)).toEqual(counts)
    expect(readings.every(({ events }) => events.every(({ event }, at) => event === `event ${at}`))).toBe(
      true,
    )
  })

  it('`__proto__` does no harm on its way between threads', async () => {
    const json = batch(1000).replace('"at":500,', '"at":500,"__proto__":{"bad":1},')
    const { events } = await read(body(json))
    expect(Object.keys(events[500]!.properties)).toEqual(['at', 'filler', 'nested'])
    expect(events[500]!.properties.bad).toBe(undefined)
  })
})

describe('the threads', () => {
  const LIMITS = { bytes: 20 * MB, costly_bytes: 20 * MB, values: 1_000_000 }

  it('that are ended fail what they read as busy, and the next body gets another', async () => {
    const large = new LargeBodies(2)
    const lost = large.read(body(batch(5000)), LIMITS, 'one')
    const waiting = large.read(body(batch(600)), LIMITS, 'one')
    await setImmediate()
    await large.stop()
    await expect(lost).rejects.toThrow(StoreBusy)
    expect((await waiting).events).toHaveLength(600)
    await large.close()
    await expect(large.read(body(batch(600)), LIMITS, 'one')).rejects.toThrow(StoreBusy)
  })

  it('are never all with one sender', async () => {
    const large = new LargeBodies(2)
    const done: string[] = []
    const reading = async (sender: string, count: number) => {
      await large.read(body(batch(count)), LIMITS, sender)
      done.push(sender)
    }
    const flood = Array.from({ length: 3 }, () => reading('flood', 12_000))
    await Promise.all([reading('neighbour', 300), ...flood])
    expect(done).toEqual(['neighbour', 'flood', 'flood', 'flood'])
    await large.close()
  })
})
