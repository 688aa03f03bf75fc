// Files of every format and packing, what is kept aside of them, and going on after an end at any moment.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatMicros } from '../../../lib/microseconds.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { writePacked, writeParquet } from './fixture/packed-files.ts'
import { importFile } from './import-file.ts'
import { recogniseFile, type Compression } from './input-file.ts'
import { readProgress, type Progress } from './progress-file.ts'
import type { Reject } from './rejects.ts'
import { SERVER_BATCH, type Sink } from './sink.ts'

let folder = ''
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-import-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
const newPath = (ending = '') => join(folder, `file${++files}${ending}`)

type Options = { sink?: Partial<Sink>; signal?: AbortSignal; trial?: boolean }

/** As the command does it: goes on from the progress beside the file. */
async function run(path: string, { sink, signal, trial = false }: Options = {}) {
  const file = await recogniseFile(path)
  const events: PipelineEvent[] = []
  const rejects: Reject[] = []
  const fresh: Progress = {
    identity: file.identity,
    target: 'token',
    started_at: new Date('2026-01-02T03:04:05Z'),
    rows: 0,
    rejected: 0,
    rejects: { path: `${path}.rejects.jsonl`, bytes: null },
    is_done: false,
  }
  const result = await importFile({
    file,
    sink: {
      in_flight: 2,
      batch: SERVER_BATCH,
      accept: async (batch) => {
        events.push(...batch)
        return []
      },
      stored: () => null,
      close: async () => undefined,
      ...sink,
    },
    progress: (await readProgress(`${path}.progress.json`)) ?? fresh,
    progress_path: trial ? null : `${path}.progress.json`,
    onProgress: () => undefined,
    onReject: (reject) => rejects.push(reject),
    signal: signal ?? new AbortController().signal,
  })
  return { file, events, rejects, result }
}

const progressOf = async (path: string) => readProgress(`${path}.progress.json`)
const rejectsOf = async (path: string) =>
  (await readFile(`${path}.rejects.jsonl`, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reject)

const ROWS = Array.from({ length: 3000 }, (_, index) => ({
  uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  event: index % 2 === 0 ? '$pageview' : 'bought, "quoted"\nand more',
  distinct_id: `visitor ${index % 7} ü €`,
  timestamp: `2025-03-04T05:06:${String(index % 60).padStart(2, '0')}.123456Z`,
  properties: { index, text: 'ä'.repeat(index % 50), nested: { list: [1, null, 'x'] } },
}))
const shapeOf = ({ uuid, event, distinct_id, timestamp, properties }: PipelineEvent) => ({
  uuid,
  event,
  distinct_id,
  timestamp: formatMicros(timestamp),
  properties,
})

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
const TEXTS = {
  JSONLines: ROWS.map((row) => JSON.stringify(row)).join('\n'),
  // Written by other programs: the separator of some countries, ends of lines of some systems.
  CSV: [
    'uuid;event;distinct_id;timestamp;properties;team_id',
    ...ROWS.map((row) =>
      [
        row.uuid,
        cell(row.event),
        cell(row.distinct_id),
        row.timestamp,
        cell(JSON.stringify(row.properties)),
        '7',
      ].join(';'),
    ),
  ].join('\r\n'),
}

describe('every format in every packing', () => {
  const packings: Compression[] = ['none', 'gzip', 'zstd', 'brotli']
  it.each(
    (['JSONLines', 'CSV'] as const).flatMap((format) =>
      packings.map((packing) => [format, packing] as const),
    ),
  )('%s, %s', async (format, packing) => {
    // The name tells nothing, but for brotli, which has no signature.
    const path = newPath(packing === 'brotli' ? '.br' : '')
    await writePacked(path, `${TEXTS[format]}\n`, packing)
    const { file, events, result } = await run(path)
    expect({ format: file.format, compression: file.compression }).toEqual({ format, compression: packing })
    expect(result).toEqual({ rows: 3000, rejected: 0, share: 1, is_done: true })
    expect(events.map(shapeOf)).toEqual(ROWS)
    expect(await rejectsOf(path)).toEqual([])
  })

  it.each([
    [
      'as PostHog writes it',
      `row->>'uuid' AS uuid, (row->>'timestamp')::TIMESTAMPTZ AS timestamp, now() AS _inserted_at,
       row->>'event' AS event, (row->'properties')::VARCHAR AS properties, row->>'distinct_id' AS distinct_id,
       '' AS elements_chain, '{"email":"x"}' AS person_properties, uuid() AS person_id`,
    ],
    [
      'with types of its own',
      `(row->>'uuid')::UUID AS uuid, (row->>'timestamp')::TIMESTAMP AS timestamp, row->>'event' AS event,
       encode(row->>'distinct_id') AS distinct_id,
       {index: (row->'properties'->>'index')::INT, text: row->'properties'->>'text',
        nested: {list: row->'properties'->'nested'->'list'}} AS properties`,
    ],
  ])('Parquet, %s', async (_, select) => {
    const path = newPath('[1].parquet.zst')
    await writeParquet(path, select, ROWS)
    const { file, events, result } = await run(path)
    expect(file).toMatchObject({ format: 'Parquet', compression: 'none' })
    expect(result).toEqual({ rows: 3000, rejected: 0, share: 1, is_done: true })
    expect(events.map(shapeOf)).toEqual(ROWS)
  })

  it.each(['', '\n\n'])('nothing at all (%j)', async (text) => {
    const path = newPath()
    await writeFile(path, text)
    expect((await run(path)).result).toMatchObject({ rows: 0, is_done: true })
  })

  it.each([
    ['a list', '.json', '[{"event":"a"}]', /is one JSON list/],
    ['a table without the columns', '.csv', 'name,age\nada,36\n', /neither JSONLines nor Parquet, nor CSV/],
    ['UTF-16', '.jsonl', Buffer.from('\uFEFF{}', 'utf16le'), /is UTF-16/],
    ['lz4', '.lz4', Buffer.from('04224d186440a7', 'hex'), /is packed with lz4/],
    ['Parquet inside gzip', '.gz', gzipSync('PAR1....'), /is Parquet inside another compression/],
    ['broken from the beginning', '.gz', Buffer.from('1f8b0800ffff', 'hex'), /cannot be unpacked/],
  ])('%s is refused as a whole', async (_, ending, content, message) => {
    const path = newPath(ending)
    await writeFile(path, content)
    await expect(recogniseFile(path)).rejects.toThrow(message)
  })
})

const good = (name: string) => JSON.stringify({ event: name, distinct_id: 'ada' })
const long = (bytes: number) =>
  JSON.stringify({ event: 'long', distinct_id: 'ada', properties: { x: 'y'.repeat(bytes) } })

describe('lines that cannot be used', () => {
  const bad: [string | Buffer, RegExp][] = [
    ['{"event": "a", "distinct_id": ', /not JSON/],
    ['event,distinct_id', /not JSON/],
    ['[1, 2]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{"distinct_id":"ada"}', /`event` must be given/],
    ['{"event":"a"}', /`distinct_id` must be given/],
    ['{"event":"a","distinct_id":"ada","uuid":"seven"}', /`uuid` is not a UUID/],
    ['{"event":"a","distinct_id":"ada","timestamp":"soon"}', /`timestamp` is not a time: soon/],
    ['{"event":"a","distinct_id":"ada","timestamp":"2999-01-01"}', /`timestamp` lies in the future/],
    ['{"event":"a","distinct_id":"ada","properties":"none"}', /`properties` must be an object/],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not valid UTF-8/],
    ['{"event":"a\0","distinct_id":"ada"}', /NUL/],
    [
      `{"event":"a","distinct_id":"ada","properties":${'{"a":'.repeat(120)}1${'}'.repeat(120)}}`,
      /100 levels/,
    ],
    [long(1024 * 1024), /longer than 1 MB \(10486\d\d bytes\)/],
    [long(5 * 1024 * 1024), /longer than 1 MB/],
  ]

  it('are written aside with line, reason and text, and the others are taken', async () => {
    const path = newPath('.jsonl')
    await writeFile(path, '')
    for (const [line] of bad) {
      await appendFile(path, line)
      await appendFile(path, `\n${good('between')}\n`)
    }
    const { events, rejects, result } = await run(path)
    expect(result).toMatchObject({ rows: 2 * bad.length, rejected: bad.length, is_done: true })
    expect(events).toHaveLength(bad.length)
    expect(events.every(({ event }) => event === 'between')).toBe(true)
    expect(await rejectsOf(path)).toEqual(rejects)
    expect(rejects.map(({ line }) => line)).toEqual(bad.map((_, index) => 2 * index + 1))
    for (const [index, [line, reason]] of bad.entries()) {
      expect(rejects[index]!.reason).toMatch(reason)
      const text = line.toString()
      expect(rejects[index]!.text).toBe(text.length > 1024 * 1024 ? text.slice(0, 1000) : text)
    }
  })

  it('a line of just under 1 MB is taken', async () => {
    const path = newPath()
    await writeFile(path, `${long(1024 * 1024 - 100)}\n`)
    expect((await run(path)).result).toMatchObject({ rows: 1, rejected: 0 })
  })

  it('in CSV and Parquet too', async () => {
    const csv = newPath()
    await writeFile(csv, 'event,distinct_id,uuid\na,ada,\n,ada,\n"a\nb,ada\nc,ada,seven\n')
    await run(csv)
    expect((await rejectsOf(csv)).map(({ line, text }) => [line, text])).toEqual([
      [3, ',ada,'],
      [4, '"a'],
      [5, 'b,ada'],
      [6, 'c,ada,seven'],
    ])
    const parquet = newPath()
    const select = `row->>'event' AS event, row->>'id' AS distinct_id, row->>'properties' AS properties`
    const huge = JSON.stringify({ x: 'y'.repeat(1024 * 1024) })
    await writeParquet(parquet, select, [
      { event: 'a', id: 'ada' },
      { event: 'a' },
      { event: 'a', id: 'ada', properties: huge },
    ])
    const { rejects } = await run(parquet)
    expect(rejects.map(({ line }) => line)).toEqual([2, 3])
    expect(rejects[0]).toEqual({
      line: 2,
      reason: '`distinct_id` must be given and not empty.',
      text: '{"event":"a"}',
    })
    expect(rejects[1]!.reason).toMatch(/larger than 1 MB/)
  })

  it('what the sink refuses is kept aside like the rest', async () => {
    const path = newPath()
    await writeFile(path, `${good('a')}\n${good('b')}\nbad\n${good('c')}\n`)
    await run(path, { sink: { accept: async () => [{ index: 1, reason: 'no room' }] } })
    expect(await rejectsOf(path)).toMatchObject([
      { line: 2, reason: 'no room', text: good('b') },
      { line: 3, text: 'bad' },
    ])
  })

  it('a trial writes nothing', async () => {
    const path = newPath()
    await writeFile(path, `{}\n${good('a')}\n`)
    const { rejects, result } = await run(path, { trial: true })
    expect({ rejects: rejects.length, ...result }).toMatchObject({ rejects: 1, rows: 2, rejected: 1 })
    expect(await progressOf(path)).toBeNull()
    expect(await rejectsOf(path)).toEqual([])
  })
})

describe('going on', () => {
  const LINES = 9000
  /** Every hundredth line is bad. */
  const write = async () => {
    const path = newPath('.jsonl')
    const lines = Array.from({ length: LINES }, (_, index) => (index % 100 === 0 ? 'bad' : good(`e${index}`)))
    await writeFile(path, `${lines.join('\n')}\n`)
    return path
  }

  it('after a failed delivery: what was acknowledged is not sent again, the rest once more with the same ids', async () => {
    const path = await write()
    const sent: PipelineEvent[][] = []
    const failing: Sink['accept'] = async (batch) => {
      sent.push([...batch])
      if (sent.length === 3) throw new Error('gone')
      return []
    }
    await expect(run(path, { sink: { in_flight: 1, accept: failing } })).rejects.toThrow('gone')
    expect(await progressOf(path)).toMatchObject({ rows: 4000, rejected: 40, is_done: false })
    expect(await rejectsOf(path)).toHaveLength(40)
    const { events } = await run(path)
    expect(events.slice(0, 1980).map(({ uuid }) => uuid)).toEqual(sent[2]!.map(({ uuid }) => uuid))
    expect(await progressOf(path)).toMatchObject({ rows: LINES, rejected: 90, is_done: true })
    expect((await rejectsOf(path)).map(({ line }) => line)).toEqual(
      Array.from({ length: 90 }, (_, index) => index * 100 + 1),
    )
    const all = [...sent[0]!, ...sent[1]!, ...events]
    expect(new Set(all.map(({ uuid }) => uuid)).size).toBe(LINES - 90)
    expect(all).toHaveLength(LINES - 90)
  })

  it('after being killed between the two files: the rows kept aside are not there twice', async () => {
    const path = await write()
    const failing: Sink['accept'] = async () => {
      throw new Error('killed')
    }
    await expect(run(path, { sink: { accept: failing } })).rejects.toThrow('killed')
    await appendFile(`${path}.rejects.jsonl`, '{"line":1,"reason":"x","text":"bad"}\n{"li')
    await run(path)
    expect(await rejectsOf(path)).toHaveLength(90)
  })

  it('after being asked to stop: what was read is stored, nothing more is read', async () => {
    const path = await write()
    const stop = new AbortController()
    const stopping: Sink['accept'] = async () => {
      stop.abort()
      return []
    }
    const { result } = await run(path, { sink: { accept: stopping }, signal: stop.signal })
    expect(result.is_done).toBe(false)
    const { rows } = (await progressOf(path))!
    expect(rows).toBe(result.rows)
    const { events } = await run(path)
    expect(await progressOf(path)).toMatchObject({ rows: LINES, rejected: 90, is_done: true })
    expect(events.length).toBe(LINES - rows - Math.floor((LINES - rows) / 100))
  })

  it.each(['gzip', 'zstd'] as const)(
    'a file that breaks off (%s): what comes before is stored, and it is told',
    async (packing) => {
      const [whole, path] = [newPath(), newPath('.jsonl')]
      await writePacked(whole, `${TEXTS.JSONLines}\n`, packing)
      const bytes = await readFile(whole)
      await writeFile(path, bytes.subarray(0, bytes.length - 1000))
      const stored: PipelineEvent[] = []
      const accept: Sink['accept'] = async (batch) => {
        stored.push(...batch)
        return []
      }
      await expect(run(path, { sink: { accept } })).rejects.toThrow(/cannot be read to its end/)
      const progress = (await progressOf(path))!
      expect(progress.is_done).toBe(false)
      expect(progress.rows).toBe(stored.length)
      expect(stored.length).toBeGreaterThan(packing === 'gzip' ? 1000 : -1)
    },
  )

  it('rows kept aside are added to a file that is there already', async () => {
    const path = newPath('.jsonl')
    await writeFile(path, 'bad\n')
    await writeFile(`${path}.rejects.jsonl`, '{"line":9,"reason":"mine","text":""}\n')
    await run(path)
    expect((await rejectsOf(path)).map(({ line }) => line)).toEqual([9, 1])
  })

  it('a damaged progress file is named', async () => {
    const path = newPath('.jsonl')
    await writeFile(path, 'bad\n')
    await writeFile(`${path}.progress.json`, '{"rows":-1}')
    await expect(run(path)).rejects.toThrow(/does not hold the progress of an import/)
  })
})
