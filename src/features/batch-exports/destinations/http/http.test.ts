// Batches to an endpoint: what is in them, where they end, what happens when it does not take them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  startCaptureServer,
  type Answer,
  type CaptureStandIn,
} from '../../../../../test/stand-ins/capture-server.ts'
import { openOutbound, type Outbound } from '../../../../platform/outbound/outbound.ts'
import { OWN_COLUMNS, Passing, Refused, Unreachable, type DeliveryContext } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { http } from './http.ts'
import type { HttpConfig } from './kind.ts'

const TOKEN = 'phc_secret "token"'
const RUN_ID = '018e0000-0000-7000-8000-0000000000ff'

let folder: string
let outbound: Outbound
let endpoint: CaptureStandIn
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-http-'))
  outbound = openOutbound({ allow: ['127.0.0.1'] })
})
afterAll(async () => {
  await outbound.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => void (endpoint = await startCaptureServer(TOKEN)))
afterEach(() => endpoint.close())

const uuidOf = (number: number) => `018e0000-0000-7000-8000-${String(number).padStart(12, '0')}`

function row(number: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    uuid: uuidOf(number),
    distinct_id: 'ada',
    timestamp: '2024-03-01T10:00:00.123456Z',
    event: 'signed up',
    properties: { number },
    elements_chain: '',
    ...fields,
  }
}

const NO_PROGRESS = { last: null, save: async () => {}, began: async () => {}, leftOut: async () => {} }

function contextOf(change: Partial<DeliveryContext<HttpConfig>> = {}): DeliveryContext<HttpConfig> {
  return {
    config: { url: endpoint.url, token: TOKEN, include_events: null, exclude_events: null },
    run: {
      id: RUN_ID,
      other_ids: [],
      attempt: 1,
      batch_export_id: uuidOf(0),
      project_id: 1,
      model: 'events',
      interval: { start: new Date(0), end: new Date(3_600_000) },
      backfill_id: null,
      is_repair: false,
      told_apart_by: OWN_COLUMNS,
      has_custom_columns: false,
    },
    columns: [],
    outbound,
    settings: { export_folder: '/nowhere', allow_plaintext: true },
    signal: new AbortController().signal,
    log: () => undefined,
    left_files: [],
    left_uploads: [],
    progress: NO_PROGRESS,
    ...change,
  }
}

/** Each list of rows is a file. */
async function deliver(files: Record<string, unknown>[][], change?: Partial<DeliveryContext<HttpConfig>>) {
  const delivery = await http.open(contextOf(change))
  for (const [index, rows] of files.entries()) {
    const path = join(folder, `rows-${index}`)
    await writeFile(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(''))
    await delivery.write({ index, path, rows: rows.length, bytes: 0, sha256: '' })
  }
  return await delivery.finish(stillOurs)
}

const failure = async (change?: Partial<DeliveryContext<HttpConfig>>) =>
  await deliver([[row(1)]], change).then(
    () => null,
    (error: unknown) => error as Error & { retry_after_ms?: number | null },
  )

const saying =
  (status: number, text = '', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(text)

describe('a batch', () => {
  it('is a file, under the run’s id and its own number, with events as capture takes them', async () => {
    const odd = 'tab\t "quotes" \\ 💥 \u2028 end'
    expect(await deliver([[row(1), row(2)], [row(3, { properties: { odd }, distinct_id: odd })]])).toEqual({
      rows: 3,
      files: [],
    })
    expect(endpoint.batches.map(({ run_id, sequence, events }) => [run_id, sequence, events.length])).toEqual(
      [
        [RUN_ID, '0', 2],
        [RUN_ID, '1', 1],
      ],
    )
    expect(endpoint.batches[1]!.events).toEqual([
      {
        uuid: uuidOf(3),
        distinct_id: odd,
        timestamp: '2024-03-01T10:00:00.123456Z',
        event: 'signed up',
        properties: { odd, $geoip_disable: true },
      },
    ])
  })

  it('carries the chain of elements of what was captured automatically, and of nothing else', async () => {
    const elements_chain = 'a.link:text="x"'
    await deliver([
      [
        row(1, { event: '$autocapture', elements_chain }),
        row(2, { event: '$autocapture', elements_chain: '' }),
        row(3, { event: '$autocapture', elements_chain: null, properties: null }),
        row(4, { elements_chain }),
        row(5, { properties: { $geoip_disable: false, ['__proto__x']: 1 } }),
      ],
    ])
    const properties = endpoint.batches[0]!.events.map((event) => event.properties)
    expect(properties).toEqual([
      { number: 1, $elements_chain: elements_chain, $geoip_disable: true },
      { number: 2, $geoip_disable: true },
      { $geoip_disable: true },
      { number: 4, $geoip_disable: true },
      { __proto__x: 1, $geoip_disable: true },
    ])
  })

  it(
    'is cut where the file has more than a batch may have, and numbers go on',
    { tags: 'slow' },
    async () => {
      const heavy = (number: number) => row(number, { properties: { filler: 'x'.repeat(11_000_000) } })
      await deliver([[1, 2, 3, 4, 5].map(heavy), [row(6)]])
      expect(endpoint.batches.map(({ sequence, events }) => [sequence, events.length])).toEqual([
        ['0', 4],
        ['1', 1],
        ['2', 1],
      ])
      expect(Math.max(...endpoint.batches.map(({ bytes }) => bytes))).toBeLessThanOrEqual(50_000_000)
    },
  )

  it('has 5000 events at most', async () => {
    await deliver([Array.from({ length: 5001 }, (_, index) => row(index))])
    expect(endpoint.batches.map(({ events }) => events.length)).toEqual([5000, 1])
  })
})

describe('a later attempt', () => {
  it('goes on after the last batch that was acknowledged, with the same numbers', async () => {
    const saved: unknown[] = []
    const progress = { ...NO_PROGRESS, save: async (value: unknown) => void saved.push(value) }
    const files = [[row(1), row(2)], [row(3)], [row(4)]]
    endpoint.answerNext(saying(503), saying(503))
    await expect(deliver(files, { progress })).rejects.toBeInstanceOf(Passing)
    expect(saved).toEqual([])
    endpoint.cutAt(3, 'before')
    await expect(deliver(files, { progress })).rejects.toBeInstanceOf(Passing)
    endpoint.reset()
    endpoint.cutAt(2, 'before')
    await expect(deliver(files, { progress })).rejects.toBeInstanceOf(Passing)
    expect(saved).toMatchObject([{ acknowledged: 1, rows: 2 }])
    endpoint.reset()
    expect(await deliver(files, { progress: { ...progress, last: saved[0] } })).toEqual({
      rows: 4,
      files: [],
    })
    expect(endpoint.batches.map(({ sequence }) => sequence)).toEqual(['0', '1', '2'])
    expect(saved.at(-1)).toMatchObject({ acknowledged: 3, rows: 4 })
  })

  it('sends every row once where an earlier version has cut other batches', async () => {
    const last = { acknowledged: 1, rows: 3 }
    const files = [[row(1), row(2)], [row(3), row(4)], [row(5)]]
    expect(await deliver(files, { progress: { ...NO_PROGRESS, last } })).toEqual({ rows: 5, files: [] })
    const sent = endpoint.batches.map(({ sequence, events }) => [sequence, events.map(({ uuid }) => uuid)])
    expect(sent).toEqual([
      ['1', [row(4).uuid]],
      ['2', [row(5).uuid]],
    ])
  })

  it('sends a batch again whose answer was lost, under the same number', async () => {
    endpoint.cutAt(1, 'after')
    await expect(deliver([[row(1)]])).rejects.toBeInstanceOf(Passing)
    await deliver([[row(1)]])
    expect(endpoint.batches.map(({ run_id, sequence }) => [run_id, sequence])).toEqual([
      [RUN_ID, '0'],
      [RUN_ID, '0'],
    ])
  })

  it('stops when progress can no longer be saved', async () => {
    const lost = new Error('the run is somebody else’s')
    const progress = { ...NO_PROGRESS, save: () => Promise.reject(lost) }
    await expect(deliver([[row(1)], [row(2)]], { progress })).rejects.toBe(lost)
    expect(endpoint.requests()).toBe(1)
  })
})

describe('answers', () => {
  it.each([
    [400, Refused],
    [401, Refused],
    [404, Refused],
    [413, Refused],
    [301, Refused],
    [429, Passing],
    [500, Passing],
    [503, Passing],
  ])('%i is %o', async (status, type) => {
    endpoint.answerNext(saying(status, 'why'))
    const error = await failure()
    expect(error).toBeInstanceOf(type)
    expect(error!.message).toContain(String(status))
    expect(endpoint.requests()).toBe(1)
  })

  it.each([200, 202, 204])('%i is taken, whatever is said with it', async (status) => {
    endpoint.answerNext((response) =>
      response.writeHead(status).end(status === 204 ? undefined : '\0 no JSON'),
    )
    expect(await deliver([[row(1)]])).toEqual({ rows: 1, files: [] })
  })

  it('are repeated on one line, cut, and without the token', async () => {
    endpoint.answerNext(saying(400, `bad\r\n\u001b[31mtoken ${TOKEN} ${'x'.repeat(1000)}`))
    const error = await failure()
    expect(error!.message).toMatch(/^The endpoint answered with status 400: bad \[31mtoken \*\*\* x+$/)
    expect(error!.message.length).toBeLessThan(600)
  })

  it.each([
    ['7', 7000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['99999999', 3_600_000],
    ['soon', null],
  ])('Retry-After %s means %s ms', async (after, ms) => {
    endpoint.answerNext(saying(429, '', { 'retry-after': after, date: 'Thu, 01 Jan 2026 00:00:00 GMT' }))
    expect(await failure()).toMatchObject({ retry_after_ms: ms })
  })

  it.each<[string, Answer]>([
    ['a reset', (_response, request) => request.socket.resetAndDestroy()],
    ['no HTTP', (_response, request) => request.socket.end('what?\r\n\r\n')],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy()),
    ],
  ])('%s is tried again later', async (_what, answer) => {
    endpoint.answerNext(answer)
    expect(await failure()).toBeInstanceOf(Passing)
    expect(endpoint.batches).toEqual([])
  })

  it('an answer without end is not read to its end', async () => {
    endpoint.answerNext((response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', write)
      write()
    })
    expect(await failure()).toBeInstanceOf(Passing)
  })

  it('that do not come are waited for no longer once the run is stopped', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled')
    endpoint.answerNext(() => controller.abort(reason))
    await expect(deliver([[row(1)]], { signal: controller.signal })).rejects.toBe(reason)
  })
})

describe('an address', () => {
  it('without a listener is tried again; without a meaning out of reach; one the gate refuses is refused', async () => {
    const at = (url: string) => failure({ config: { ...contextOf().config, url } })
    expect(await at('http://127.0.0.1:1/')).toBeInstanceOf(Passing)
    expect(await at('http://10.0.0.1/')).toBeInstanceOf(Refused)
    expect(await at('http://name.invalid/')).toBeInstanceOf(Unreachable)
  })
})

describe('the test step', () => {
  it('sends a batch without events, and repeats what the endpoint has against it', async () => {
    const [step] = http.steps
    await step!.run(contextOf())
    expect(endpoint.batches).toMatchObject([{ events: [], run_id: undefined }])
    const config = { ...contextOf().config, token: 'phc_wrong' }
    const refused = await step!.run(contextOf({ config })).catch((error: unknown) => String(error))
    expect(refused).toContain('401')
    expect(refused).not.toContain('phc_wrong')
  })
})
