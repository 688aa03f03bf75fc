// Files made from a real store: their contents, where they end, that they are the same every time, and what is left of
// those that nobody wants.
// @module-tag slow
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { openDuckDb } from '../../../platform/event-store/duckdb/open.ts'
import type { PositionBlock } from '../../../platform/event-store/event-store.ts'
import { plainRows } from '../../../platform/event-store/fixture/plain-rows.ts'
import { encode } from './encode.ts'
import type { Compression, Encoding, OutputFile } from './encoding.ts'
import { COLUMNS, expectedRow, numbered, upTo } from './fixture/numbered-rows.ts'
import { inDuckDb, linesOf, numbersOf, rowsOf } from './fixture/read-back.ts'
import { expectSound, never, useFiles, type Kept } from './fixture/use-files.ts'
import { joinBlocks, planPieces } from './plan.ts'
import { pieceTaker } from './take-pieces.ts'

const place = useFiles()
const { filesOf, staged } = place

describe('lines', () => {
  it.each<[Encoding['format'], Compression | null]>([
    ['JSONLines', null],
    ['JSONLines', 'gzip'],
    ['JSONLines', 'brotli'],
    ['CSV', null],
    ['CSV', 'gzip'],
    ['CSV', 'brotli'],
  ])('of %s, by %s, hold every row once and in order', async (format, compression) => {
    const encoding = { format, compression, has_header: format === 'CSV' }
    const files = await filesOf(numbered(6000), encoding)
    expect(files).toHaveLength(1)
    expectSound(files, 6000)
    expect(await rowsOf(files[0]!.content, encoding)).toEqual(upTo(6000).map(expectedRow))
    expect(await staged()).toEqual([])
  })

  it('of more than one planned piece', async () => {
    const encoding = { format: 'JSONLines', compression: 'gzip' } as const
    const [{ content }] = (await filesOf(numbered(120_000), encoding)) as [Kept]
    expect(await numbersOf(content, encoding)).toEqual(upTo(120_000))
    // One stream, not several behind each other, of which some readers take only the first.
    expect(content.readUInt32LE(content.length - 4)).toBe(gunzipSync(content).length)
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
      const encoding = { format: 'Parquet', compression } as const
      const files = await filesOf(numbered(600), encoding)
      expect(files).toHaveLength(1)
      expectSound(files, 600)
      expect(await rowsOf(files[0]!.content, encoding)).toEqual(upTo(600).map(expectedRow))
      expect(await staged()).toEqual([])
    },
  )

  it('of many row groups can be read by any part of it', async () => {
    const [file] = await filesOf(numbered(250_000), { format: 'Parquet', compression: 'zstd' })
    const groups = await inDuckDb(
      file!.content,
      (path) =>
        `SELECT row_group_id, any_value(row_group_num_rows) FROM parquet_metadata('${path}') GROUP BY ALL ORDER BY ALL`,
    )
    expect(groups.length).toBeGreaterThan(2)
    expect(groups.reduce((sum, [, rows]) => sum + Number(rows), 0)).toBe(250_000)
    // By the statistics and bloom filters of each row group.
    const found = await inDuckDb(
      file!.content,
      (path) =>
        `SELECT n FROM read_parquet('${path}') WHERE n IN (1, 5001, 77777, 250000) OR text LIKE 'row 99999 %'`,
    )
    expect(found.map(([n]) => Number(n))).toEqual([1, 5001, 77_777, 99_999, 250_000])
  })

  it('takes no more memory for large values that pack well', async () => {
    const little = join(place.folder, 'little')
    const small = await openDuckDb({ folder: little, memory_mb: 96, query_timeout_ms: 20_000 })
    // Almost 400 MB, in a file of a few.
    const rows = plainRows({
      sql: `SELECT range AS position, range AS c1, repeat(concat(range, ' of many; '), 650) AS c2 FROM range(1, 40001)`,
      columns: COLUMNS.slice(0, 2),
    })
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
    const bare = await place.store.exportRows(
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
  it.each<Encoding['format']>(['JSONLines', 'Parquet', 'CSV', 'CopyText'])(
    'make no file of %s',
    async (format) => {
      expect(await planPieces(place.store, numbered(0), never())).toEqual({ rows: 0, pieces: [] })
      expect(await filesOf(numbered(0), { format, has_header: format === 'CSV' })).toEqual([])
      expect(await staged()).toEqual([])
    },
  )

  it('where some were counted make none either', async () => {
    const gone: PositionBlock[] = [{ from: 0, to: 100, rows: 100 }]
    const encoding = { format: 'JSONLines', compression: null, max_bytes: null, max_rows: null } as const
    for await (const file of encode(place.store, numbered(0), gone, encoding, never()))
      expect(file).toBe('no file')
    expect(await staged()).toEqual([])
  })
})

describe('several files', () => {
  const MEGABYTE = 1024 * 1024
  /** Their formats and their compressions are each tried above. */
  const OTHER_PAIRS: [Encoding['format'], Compression | null][] = [
    ['JSONLines', 'gzip'],
    ['CSV', null],
    ['Parquet', null],
  ]

  it.each<[Encoding['format'], Compression | null]>([
    ['JSONLines', null],
    ['JSONLines', 'brotli'],
    ['CSV', 'gzip'],
    ['Parquet', 'zstd'],
    ...(IS_LONG ? OTHER_PAIRS : []),
  ])('of %s by %s end near the limit; together they hold everything', async (format, compression) => {
    const encoding = { format, compression, has_header: format === 'CSV', max_bytes: MEGABYTE / 2 }
    const files = await filesOf(numbered(60_000, 2), encoding)
    expect(files.length).toBeGreaterThan(2)
    expectSound(files, 30_000)
    for (const { bytes } of files.slice(0, -1)) {
      expect(bytes).toBeGreaterThanOrEqual(MEGABYTE / 2)
      expect(bytes).toBeLessThan(MEGABYTE)
    }
    const numbers: number[] = []
    for (const { content, rows } of files) {
      const found = await numbersOf(content, encoding)
      expect(found).toHaveLength(rows)
      numbers.push(...found)
    }
    expect(numbers).toEqual(upTo(60_000, 2))
  })

  it.each([
    [12_000, 1],
    [60_000, 7],
  ])('by rows: never one more, of %i positions of which every %i. counts', async (last, every) => {
    const encoding = { format: 'JSONLines', compression: null, max_rows: 500 } as const
    const files = await filesOf(numbered(last, every), encoding)
    expectSound(files, Math.floor(last / every))
    expect(Math.max(...files.map(({ rows }) => rows))).toBe(500)
    const found = await Promise.all(files.map(({ content }) => numbersOf(content, encoding)))
    expect(found.map(({ length }) => length)).toEqual(files.map(({ rows }) => rows))
    expect(found.flat()).toEqual(upTo(last, every))
  })

  it.each<[Encoding['format'], Compression | null]>([
    ['JSONLines', 'brotli'],
    ['CSV', 'gzip'],
    ['Parquet', 'zstd'],
    ...(IS_LONG ? OTHER_PAIRS : []),
  ])('of %s by %s are the same at every attempt, also beside others', async (format, compression) => {
    const encoding = { format, compression, has_header: format === 'CSV', max_bytes: MEGABYTE / 4 }
    const attempt = async () =>
      (await filesOf(numbered(40_000, 3), encoding)).map(({ index, rows, bytes, sha256 }) => ({
        index,
        rows,
        bytes,
        sha256,
      }))
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
    { format: 'CSV', has_header: true },
    { compression: null },
    { max_rows: 100 },
  ])('early leaves nothing behind: %o', async (other) => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(place.store, rows, never())
    const signal = never()
    let path = ''
    for await (const file of encode(place.store, rows, pieces, { ...encoding, ...other }, signal)) {
      path = file.path
      expect(existsSync(path)).toBe(true)
      break
    }
    expect(path).not.toBe('')
    expect(await staged()).toEqual([])
  })

  it('because delivery failed gets that failure', async () => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(place.store, rows, never())
    const delivery = async () => {
      for await (const { index } of encode(place.store, rows, pieces, encoding, never())) {
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
      const { pieces } = await planPieces(place.store, rows, never())
      const read = async () => {
        // Reads on for good.
        for (;;) for await (const _ of encode(place.store, rows, pieces, encoding, stop.signal)) continue
      }
      await expect(read()).rejects.toThrow('cancelled')
      expect(await staged()).toEqual([])
    }
  })

  it('without having begun leaves nothing', async () => {
    const files = encode(place.store, numbered(10), [{ from: 0, to: 10, rows: 10 }], encoding, never())
    await files.return()
    expect(await staged()).toEqual([])
  })

  it('reading for a while finds at most two files and three pieces on the disk', async () => {
    const rows = numbered(50_000)
    const { pieces } = await planPieces(place.store, rows, never())
    for await (const _ of encode(place.store, rows, pieces, encoding, never())) {
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect((await staged()).length).toBeLessThanOrEqual(5)
    }
  })
})

describe('a plan', () => {
  it('has pieces that join to at most so many rows, whatever the gaps', async () => {
    const dense = await planPieces(place.store, numbered(20_000), never())
    expect(dense).toEqual({
      rows: 20_000,
      pieces: [
        { from: 0, to: 8_192, rows: 8_192 },
        { from: 8_192, to: 16_384, rows: 8_192 },
        { from: 16_384, to: 20_000, rows: 3_616 },
      ],
    })
    expect(joinBlocks(dense.pieces, 17_000)).toEqual([
      { from: 0, to: 16_384, rows: 16_384 },
      { from: 16_384, to: 20_000, rows: 3_616 },
    ])
    const sparse = await planPieces(place.store, numbered(1_000_000, 100), never())
    expect(joinBlocks(sparse.pieces, 50_000)).toEqual([{ from: 0, to: 1_000_000, rows: 10_000 }])
  })

  it('is cut within a row group only for pieces smaller than one', async () => {
    const rows = numbered(20_000)
    const { pieces } = await planPieces(place.store, rows, never())
    const take = pieceTaker(place.store, rows, pieces, false, never())
    expect(await take(5_000)).toEqual({ from: 0, to: 5_000, rows: 5_000 })
    expect(await take(12_000)).toEqual({ from: 5_000, to: 16_384, rows: 11_384 })
    expect(await take(12_000)).toEqual({ from: 16_384, to: 20_000, rows: 3_616 })
    expect(await take(12_000)).toBeNull()
  })
})
