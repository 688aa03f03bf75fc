// Files made from a real store: their contents, where they end, that they are the same every time, and what is left of
// those that nobody wants.
import { DuckDBInstance } from '@duckdb/node-api'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDuckDb } from '../../../platform/event-store/duckdb/open.ts'
import type { EventStore, ExportRows, PositionBlock } from '../../../platform/event-store/event-store.ts'
import { encode } from './encode.ts'
import type { Compression, Encoding, OutputFile } from './encoding.ts'
import { planPieces } from './plan.ts'

let folder: string
let store: EventStore
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-formats-'))
  store = await openDuckDb({ folder, memory_mb: 256, query_timeout_ms: 20_000 })
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const never = () => new AbortController().signal
const staged = () => readdir(join(folder, 'staging'))

const COLUMNS: ExportRows['columns'] = [
  { name: 'n', kind: 'integer' },
  { name: 'text', kind: 'text' },
  { name: 'json', kind: 'json' },
  { name: 'at', kind: 'timestamp' },
]

/** Rows at the positions 1 to `last`; with `every`, only at its multiples. Their texts hold what breaks lines. */
function numbered(last: number, every = 1): ExportRows {
  const text = `concat('row ', range, ' ünï💥 "', chr(9), chr(10), chr(13), '\\', md5(CAST(range AS VARCHAR)))`
  const json = `concat('{"n":', range, ',"s":"a\\"b","hash":"', md5(CAST(range * 7 AS VARCHAR)), '"}')`
  return {
    project_id: 1,
    sql: `SELECT range AS position, range AS c1, CASE WHEN range % 5 > 0 THEN ${text} END AS c2, ${json} AS c3,
      make_timestamp(1700000000000000 + range) AS c4 FROM range(1, $1) WHERE range % $2 = 0`,
    parameters: [last + 1, every],
    columns: COLUMNS,
  }
}

type Row = { n: number; text: string | null; json: unknown; at: string }

function expectedRow(n: number): Row {
  const hash = (value: number) => createHash('md5').update(String(value)).digest('hex')
  return {
    n,
    text: n % 5 > 0 ? `row ${n} ünï💥 "\t\n\r\\${hash(n)}` : null,
    json: { n, s: 'a"b', hash: hash(n * 7) },
    at: `${new Date(1_700_000_000_000 + Math.floor(n / 1000)).toISOString().slice(0, -1)}${String(n % 1000).padStart(3, '0')}Z`,
  }
}

type Kept = OutputFile & { content: Buffer }

async function filesOf(rows: ExportRows, encoding: Partial<Encoding>, signal = never()): Promise<Kept[]> {
  const { pieces } = await planPieces(store, rows, signal)
  const whole: Encoding = {
    format: 'JSONLines',
    compression: null,
    max_bytes: null,
    max_rows: null,
    ...encoding,
  }
  const files: Kept[] = []
  for await (const file of encode(store, rows, pieces, whole, signal)) {
    files.push({ ...file, content: await readFile(file.path) })
  }
  return files
}

const linesOf = (content: Buffer | string) => String(content).split('\n').slice(0, -1)
const numbersOf = (content: Buffer | string) => linesOf(content).map((line) => (JSON.parse(line) as Row).n)
const upTo = (last: number, every = 1) =>
  Array.from({ length: Math.floor(last / every) }, (_, index) => (index + 1) * every)

/** What a file says of itself is true, and they come in order. */
function expectSound(files: readonly Kept[], total: number): void {
  expect(files.map(({ index }) => index)).toEqual(files.map((_, index) => index))
  for (const { content, bytes, sha256 } of files) {
    expect(bytes).toBe(content.length)
    expect(sha256).toBe(createHash('sha256').update(content).digest('hex'))
  }
  expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(total)
}

async function inDuckDb(content: Buffer, name: string, sql: (path: string) => string): Promise<unknown[][]> {
  const path = join(folder, name)
  await writeFile(path, content)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  const rows = await (await connection.run(sql(path))).getRows()
  connection.closeSync()
  instance.closeSync()
  await rm(path)
  return rows
}

const parquetRows = async (content: Buffer) =>
  (
    await inDuckDb(
      content,
      'back.parquet',
      (path) => `SELECT n, text, json, strftime("at", '%Y-%m-%dT%H:%M:%S.%fZ') FROM read_parquet('${path}')`,
    )
  ).map(([n, text, json, at]): Row => ({ n: Number(n), text, json: JSON.parse(json as string), at }) as Row)

describe('lines', () => {
  it.each<[Compression | null, (content: Buffer) => Buffer]>([
    [null, (content) => content],
    ['gzip', gunzipSync],
    ['brotli', brotliDecompressSync],
  ])('of JSON, by %s, hold every row once and in order', async (compression, open) => {
    const files = await filesOf(numbered(6000), { compression })
    expect(files).toHaveLength(1)
    expectSound(files, 6000)
    const rows = linesOf(open(files[0]!.content)).map((line) => JSON.parse(line) as Row)
    expect(rows).toEqual(upTo(6000).map(expectedRow))
    expect(await staged()).toEqual([])
  })

  it('of more than one planned piece', async () => {
    const [{ content }] = (await filesOf(numbered(120_000), { compression: 'gzip' })) as [Kept]
    const plain = gunzipSync(content)
    expect(numbersOf(plain)).toEqual(upTo(120_000))
    // One stream, not several behind each other, of which some readers take only the first.
    expect(content.readUInt32LE(content.length - 4)).toBe(plain.length)
  })

  it("of PostgreSQL's COPY", async () => {
    const files = await filesOf(numbered(6000), { format: 'CopyText' })
    // The first piece, and the rest.
    expect(files.map(({ rows }) => rows)).toEqual([5000, 1000])
    expect(files.map(({ bytes }) => bytes)).toEqual(files.map(({ content }) => content.length))
    const lines = files.flatMap(({ content }) => linesOf(content))
    expect(lines).toHaveLength(6000)
    expect(lines[0]!.split('\t').slice(0, 2)).toEqual([
      '1',
      expect.stringMatching(/^row 1 ünï💥 "\\t\\n\\r\\\\[0-9a-f]{32}$/),
    ])
    expect(lines[4]!.split('\t')[1]).toBe('\\N')
    expect(lines.map((line) => Number(line.split('\t')[0]))).toEqual(upTo(6000))
  })

  it('that cannot be compressed so are refused', async () => {
    await expect(filesOf(numbered(10), { compression: 'zstd' })).rejects.toThrow(
      'cannot be compressed by zstd',
    )
    expect(await staged()).toEqual([])
  })
})

describe('Parquet', () => {
  it.each<Compression | null>([null, 'zstd', 'lz4', 'snappy', 'gzip', 'brotli'])(
    'by %s holds every row once and in order',
    async (compression) => {
      const files = await filesOf(numbered(600), { format: 'Parquet', compression })
      expect(files).toHaveLength(1)
      expectSound(files, 600)
      expect(await parquetRows(files[0]!.content)).toEqual(upTo(600).map(expectedRow))
      expect(await staged()).toEqual([])
    },
  )

  it('of many row groups can be read by any part of it', async () => {
    const [file] = await filesOf(numbered(250_000), { format: 'Parquet', compression: 'zstd' })
    const groups = await inDuckDb(
      file!.content,
      'back.parquet',
      (path) =>
        `SELECT row_group_id, any_value(row_group_num_rows) FROM parquet_metadata('${path}') GROUP BY ALL ORDER BY ALL`,
    )
    expect(groups.length).toBeGreaterThan(2)
    expect(groups.reduce((sum, [, rows]) => sum + Number(rows), 0)).toBe(250_000)
    // By the statistics and bloom filters of each row group.
    const found = await inDuckDb(
      file!.content,
      'back.parquet',
      (path) =>
        `SELECT n FROM read_parquet('${path}') WHERE n IN (1, 5001, 77777, 250000) OR text LIKE 'row 99999 %'`,
    )
    expect(found.map(([n]) => Number(n))).toEqual([1, 5001, 77_777, 99_999, 250_000])
  })

  it('takes no more memory for large values that pack well', async () => {
    const little = join(folder, 'little')
    const small = await openDuckDb({ folder: little, memory_mb: 96, query_timeout_ms: 20_000 })
    // Almost 400 MB, in a file of a few.
    const rows: ExportRows = {
      project_id: 1,
      sql: `SELECT range AS position, range AS c1, repeat(concat(range, ' of many; '), 650) AS c2 FROM range(1, 40001)`,
      parameters: [],
      columns: COLUMNS.slice(0, 2),
    }
    const encoding = { format: 'Parquet', compression: 'zstd', max_bytes: null, max_rows: null } as const
    const { pieces } = await planPieces(small, rows, never())
    const files: OutputFile[] = []
    for await (const file of encode(small, rows, pieces, encoding, never())) files.push(file)
    await small.close()
    expect(files).toMatchObject([{ rows: 40_000 }])
    await rm(little, { recursive: true })
  })

  it('of a single piece is what the store wrote, to the last byte', async () => {
    const rows = numbered(3000)
    const [file] = await filesOf(rows, { format: 'Parquet', compression: 'snappy' })
    const bare = await store.exportRows(
      rows,
      { from: 0, to: 3000 },
      { kind: 'parquet', compression: 'snappy' },
      never(),
    )
    expect(file!.content.equals(await readFile(bare.path))).toBe(true)
    await rm(bare.path)
  })
})

describe('no rows', () => {
  it.each<Encoding['format']>(['JSONLines', 'Parquet', 'CopyText'])('make no file of %s', async (format) => {
    expect(await planPieces(store, numbered(0), never())).toEqual({ rows: 0, pieces: [] })
    expect(await filesOf(numbered(0), { format })).toEqual([])
    expect(await staged()).toEqual([])
  })

  it('where some were counted make none either', async () => {
    const gone: PositionBlock[] = [{ from: 0, to: 100, rows: 100 }]
    const encoding = { format: 'JSONLines', compression: null, max_bytes: null, max_rows: null } as const
    for await (const file of encode(store, numbered(0), gone, encoding, never())) expect(file).toBe('no file')
    expect(await staged()).toEqual([])
  })
})

describe('several files', () => {
  const MEGABYTE = 1024 * 1024

  it.each<[Encoding['format'], Compression | null]>([
    ['JSONLines', null],
    ['JSONLines', 'gzip'],
    ['JSONLines', 'brotli'],
    ['Parquet', 'zstd'],
    ['Parquet', null],
  ])('of %s by %s end near the limit; together they hold everything', async (format, compression) => {
    const rows = numbered(60_000, 2)
    const files = await filesOf(rows, { format, compression, max_bytes: MEGABYTE / 2 })
    expect(files.length).toBeGreaterThan(2)
    expectSound(files, 30_000)
    for (const { bytes } of files.slice(0, -1)) {
      expect(bytes).toBeGreaterThanOrEqual(MEGABYTE / 2)
      expect(bytes).toBeLessThan(MEGABYTE)
    }
    const open =
      { gzip: gunzipSync, brotli: brotliDecompressSync }[compression as 'gzip'] ?? ((content) => content)
    const numbers: number[] = []
    for (const { content } of files) {
      const found =
        format === 'Parquet' ? (await parquetRows(content)).map(({ n }) => n) : numbersOf(open(content))
      numbers.push(...found)
    }
    expect(numbers).toEqual(upTo(60_000, 2))
  })

  it.each([
    [12_000, 1],
    [60_000, 7],
  ])('by rows: never one more, of %i positions of which every %i. counts', async (last, every) => {
    const files = await filesOf(numbered(last, every), { max_rows: 500 })
    expectSound(files, Math.floor(last / every))
    expect(Math.max(...files.map(({ rows }) => rows))).toBe(500)
    expect(files.map(({ content }) => linesOf(content).length)).toEqual(files.map(({ rows }) => rows))
    expect(files.flatMap(({ content }) => numbersOf(content))).toEqual(upTo(last, every))
  })

  it.each<[Encoding['format'], Compression | null]>([
    ['JSONLines', 'gzip'],
    ['JSONLines', 'brotli'],
    ['Parquet', 'zstd'],
  ])('of %s by %s are the same at every attempt, also beside others', async (format, compression) => {
    const attempt = async () =>
      (await filesOf(numbered(40_000, 3), { format, compression, max_bytes: MEGABYTE / 4 })).map(
        ({ index, rows, bytes, sha256 }) => ({ index, rows, bytes, sha256 }),
      )
    const first = await attempt()
    expect(first.length).toBeGreaterThan(1)
    const others = await Promise.all([
      attempt(),
      attempt(),
      filesOf(numbered(30_000), { compression: 'gzip' }),
    ])
    expect(others.slice(0, 2)).toEqual([first, first])
  })
})

describe('whoever stops', () => {
  const encoding: Encoding = { format: 'JSONLines', compression: 'gzip', max_bytes: 100_000, max_rows: null }

  it.each<Partial<Encoding>>([
    {},
    { format: 'Parquet', compression: 'zstd' },
    { compression: null },
    { max_rows: 100 },
  ])('early leaves nothing behind: %o', async (other) => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(store, rows, never())
    const signal = never()
    let path = ''
    for await (const file of encode(store, rows, pieces, { ...encoding, ...other }, signal)) {
      path = file.path
      expect(existsSync(path)).toBe(true)
      break
    }
    expect(path).not.toBe('')
    expect(await staged()).toEqual([])
  })

  it('because delivery failed gets that failure', async () => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(store, rows, never())
    const delivery = async () => {
      for await (const { index } of encode(store, rows, pieces, encoding, never())) {
        if (index === 1) throw new Error('the bucket is gone')
      }
    }
    await expect(delivery()).rejects.toThrow('the bucket is gone')
    expect(await staged()).toEqual([])
  })

  it('by signal gets its reason, at any moment', async () => {
    const rows = numbered(50_000)
    for (const wait_ms of [0, 15, 60, 150]) {
      const stop = new AbortController()
      setTimeout(() => stop.abort(new Error('cancelled')), wait_ms)
      const { pieces } = await planPieces(store, rows, never())
      const read = async () => {
        // Reads on for good.
        for (;;) for await (const _ of encode(store, rows, pieces, encoding, stop.signal)) continue
      }
      await expect(read()).rejects.toThrow('cancelled')
      expect(await staged()).toEqual([])
    }
  })

  it('without having begun leaves nothing', async () => {
    const files = encode(store, numbered(10), [{ from: 0, to: 10, rows: 10 }], encoding, never())
    await files.return()
    expect(await staged()).toEqual([])
  })

  it('reading for a while finds at most two files and three pieces on the disk', async () => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(store, rows, never())
    for await (const _ of encode(store, rows, pieces, encoding, never())) {
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect((await staged()).length).toBeLessThanOrEqual(5)
    }
  })
})

describe('a plan', () => {
  it('has pieces of at most 50,000 rows, whatever the gaps', async () => {
    const dense = await planPieces(store, numbered(120_000), never())
    expect(dense.rows).toBe(120_000)
    expect(dense.pieces).toEqual([
      { from: 0, to: 49_152, rows: 49_152 },
      { from: 49_152, to: 98_304, rows: 49_152 },
      { from: 98_304, to: 131_072, rows: 21_696 },
    ])
    const sparse = await planPieces(store, numbered(1_000_000, 100), never())
    expect(sparse.pieces).toEqual([{ from: 0, to: 1_015_808, rows: 10_000 }])
  })
})
