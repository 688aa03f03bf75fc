import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PACKINGS, type Sent } from './fixture/packing.ts'
import { readCapture, type CaptureBody } from './read-capture.ts'
import { Refusal } from './refusal.ts'

const MB = 1024 * 1024
const LIMITS = { bytes: 20 * MB, costly_bytes: 20 * MB, values: 1_000_000 }
const NOW = new Date('2024-06-01T12:00:00Z')

const bodyOf = ({ payload, query, headers }: Sent): CaptureBody => ({
  bytes: payload,
  content_type: headers?.['content-type'],
  content_encoding: headers?.['content-encoding'],
  compression: new URLSearchParams(query).get('compression') ?? undefined,
  outer_token: undefined,
  sent_ms: undefined,
  missing_name: undefined,
  now: NOW,
})

const read = (value: unknown, fields: Partial<CaptureBody> = {}) =>
  readCapture({ ...bodyOf(PACKINGS.plain!(JSON.stringify(value))), ...fields }, LIMITS)

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'accepted',
    (reason: unknown) => reason,
  )
  return error instanceof Refusal ? error.fault.code : String(error)
}

describe('readCapture', () => {
  it.each(Object.entries(PACKINGS))('reads any event alike: %s', async (_, pack) => {
    const text = fc.string({ unit: 'binary', maxLength: 30 }).filter((given) => !given.includes('\0'))
    const isKept = (key: string) => key !== '__proto__'
    const value = fc
      .jsonValue({ maxDepth: 4 })
      .filter((given) => !JSON.stringify(given).includes('__proto__'))
    const properties = fc.dictionary(text.filter(isKept), value, { maxKeys: 6 })
    await fc.assert(
      fc.asyncProperty(text, text, properties, async (name, id, given) => {
        const event = { event: `e${name}`, distinct_id: `d${id}`, properties: { ...given, token: 'phc_1' } }
        const json = JSON.stringify(event)
        const { token, events, fault } = await readCapture(bodyOf(pack(json)), LIMITS)
        expect({ token, fault }).toEqual({ token: 'phc_1', fault: null })
        const [{ event: readName, distinct_id, properties: kept }] = events as [(typeof events)[0]]
        expect(JSON.stringify({ event: readName, distinct_id, properties: kept })).toBe(json)
      }),
      { numRuns: 25 },
    )
  })

  const event = { event: 'e', distinct_id: 'd' }

  it('tells the size of the JSON text, not of the packed bytes', async () => {
    const json = JSON.stringify({ ...event, api_key: 'phc_1', properties: { a: 'ü'.repeat(1000) } })
    for (const pack of [PACKINGS.plain!, PACKINGS['gzip by query']!]) {
      expect((await readCapture(bodyOf(pack(json)), LIMITS)).bytes).toBe(Buffer.byteLength(json))
    }
  })

  it.each<[string, unknown, string]>([
    ['no JSON comes before no token', '{"event":', 'invalid_payload'],
    ['an empty list comes before no token', '[]', 'invalid_payload'],
    ['no token comes before a bad event', '{"batch":[{}]}', 'missing_api_key'],
    ['a bad token comes before a bad event', '{"api_key":"phx_1","batch":[{}]}', 'invalid_api_key'],
    [
      'nesting',
      `{"api_key":"phc_1","event":"e","distinct_id":"d","properties":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`,
      'invalid_payload',
    ],
    ['data that is no JSON', '{"api_key":"phc_1","data":"hello world"}', 'invalid_payload'],
    ['empty data', '{"api_key":"phc_1","data":""}', 'invalid_payload'],
  ])('%s', async (_, json, expected) => {
    expect(await refusalOf(readCapture(bodyOf(PACKINGS.plain!(String(json))), LIMITS))).toBe(expected)
  })

  it('tells the fault of an event beside the token, and then no event', async () => {
    const reading = await read({ api_key: 'phc_1', batch: [event, { event: 'e' }, {}] })
    expect(reading).toMatchObject({
      token: 'phc_1',
      events: [],
      fault: { code: 'invalid_payload', attr: 'batch__1__distinct_id' },
    })
  })

  it('takes the token from around `data`', async () => {
    expect((await read({ api_key: 'phc_1', data: [event] })).token).toBe('phc_1')
    expect((await read({ token: 'phc_1', data: { batch: [event], api_key: 'phc_2' } })).token).toBe('phc_2')
  })

  it('measures an event however deep it was packed', async () => {
    const inner = JSON.stringify([{ ...event, properties: { a: 'x'.repeat(1024 * 1024) } }])
    const packed = gzipSync(inner).toString('base64')
    expect(packed.length).toBeLessThan(10_000)
    const reading = await read({ api_key: 'phc_1', data: packed })
    expect(reading).toMatchObject({ bytes: inner.length, fault: { code: 'payload_too_large', attr: '0' } })
  })

  it('takes `data` beside `event` for what it is: a field to ignore', async () => {
    expect((await read({ ...event, api_key: 'phc_1', data: 'hello' })).events).toHaveLength(1)
  })

  it('refuses an event over 1 MB by its place, and takes many that are large together', async () => {
    const sized = (bytes: number) => ({ ...event, properties: { a: 'x'.repeat(bytes) } })
    const half = sized(500_000)
    expect((await read({ api_key: 'phc_1', batch: [half, half, half] })).events).toHaveLength(3)
    const reading = await read({ api_key: 'phc_1', batch: [half, half, sized(1024 * 1024)] })
    expect(reading).toMatchObject({ events: [], fault: { code: 'payload_too_large', attr: 'batch__2' } })
    const empty = JSON.stringify({ ...event, api_key: 'phc_1', properties: { a: '' } }).length
    const fitting = { ...sized(1024 * 1024 - empty), api_key: 'phc_1' }
    expect((await read({ ...fitting, other: 'x' })).fault).toMatchObject({
      code: 'payload_too_large',
      attr: null,
    })
    expect((await read(fitting)).fault).toBe(null)
  })

  it('refuses an event of too many values by its place', async () => {
    const wide = (count: number) => ({ ...event, properties: { a: Array(count).fill(1) } })
    // The event, its two texts, the properties and the list count too.
    expect((await read({ api_key: 'phc_1', batch: [event, wide(19_995)] })).fault).toBe(null)
    expect(await read({ api_key: 'phc_1', batch: [event, wide(19_996)] })).toMatchObject({
      events: [],
      fault: { code: 'payload_too_large', attr: 'batch__1' },
    })
  })

  it('refuses more events than one commit should hold, and more values than it may parse', async () => {
    const fault = { code: 'payload_too_large', attr: null }
    expect(await read({ api_key: 'phc_1', batch: Array(20_001).fill(event) })).toMatchObject({ fault })
    const few = { ...LIMITS, values: 100 }
    const body = bodyOf(PACKINGS.plain!(JSON.stringify(Array(101).fill(0))))
    expect(await refusalOf(readCapture(body, few))).toBe('payload_too_large')
  })

  it('waits for its turn before it parses', async () => {
    const text = JSON.stringify({ api_key: 'phc_1', ...event })
    const withoutTurn = readCapture(bodyOf(PACKINGS.plain!(text)), LIMITS, () =>
      Promise.reject(new Error('no turn')),
    )
    await expect(withoutTurn).rejects.toThrow('no turn')
  })

  it('takes the token from beside the body when the body has none', async () => {
    expect((await read(event, { outer_token: 'phc_9' })).token).toBe('phc_9')
    expect((await read({ ...event, api_key: 'phc_1' }, { outer_token: 'phc_9' })).token).toBe('phc_1')
  })

  it('lets others have their turn while it works through a long batch', async () => {
    let turns = 0
    const count = setInterval(() => (turns += 1), 0)
    const { events } = await read({ api_key: 'phc_1', batch: Array(20_000).fill(event) })
    clearInterval(count)
    expect(events).toHaveLength(20_000)
    expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(20_000)
    expect(turns).toBeGreaterThan(3)
  })
})
