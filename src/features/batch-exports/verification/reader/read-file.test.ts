// Files read back: how many rows are in them, whatever their values hold and however they arrive.
import { createHash, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Encoding } from '../../formats/encoding.ts'
import { readContent, sumUuids } from './read-file.ts'

const plain = { compression: null, max_bytes: null, max_rows: null }
const CSV: Encoding = { ...plain, format: 'CSV', has_header: true }

const HEADER = '"a name\nin two lines",text\r\n'
const ROWS = ['1,plain\r\n', '2,"two\nlines, ""quoted""\r\n"\r\n', '3,""\r\n', '4,\r\n', '5,""""\r\n']
const FILE = HEADER + ROWS.join('')

const chunksOf = (bytes: Buffer, chunk_bytes: number) =>
  Array.from({ length: Math.ceil(bytes.length / chunk_bytes) }, (_, index) =>
    bytes.subarray(index * chunk_bytes, (index + 1) * chunk_bytes),
  )

const rowsIn = async (content: string | Buffer, encoding: Encoding, chunk_bytes = 1_000_000) => {
  const bytes = Buffer.from(content)
  const found = await readContent(Readable.from(chunksOf(bytes, chunk_bytes)), {
    encoding,
    uuid_at: null,
    folder: '',
    parquet: () => Promise.reject(new Error('no Parquet here')),
    stall_ms: 10_000,
  })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  expect(found).toMatchObject({ bytes: bytes.length, sha256 })
  return found.uuids!.rows
}

describe('rows of CSV', () => {
  it('are its records, not its lines, and the header is none', async () => {
    expect(await rowsIn(FILE, CSV)).toBe(5)
    expect(await rowsIn(ROWS.join(''), { ...CSV, has_header: false })).toBe(5)
  })

  it('are the same wherever the file is cut on its way', async () => {
    for (const chunk_bytes of [1, 2, 3, 7]) expect(await rowsIn(FILE, CSV, chunk_bytes)).toBe(5)
  })

  it('are counted in what was compressed', async () => {
    expect(await rowsIn(gzipSync(FILE), { ...CSV, compression: 'gzip' })).toBe(5)
    expect(await rowsIn(brotliCompressSync(FILE), { ...CSV, compression: 'brotli' })).toBe(5)
  })

  it('are none in a file with a header alone, or with nothing', async () => {
    expect(await rowsIn(HEADER, CSV)).toBe(0)
    expect(await rowsIn('', CSV)).toBe(0)
  })

  it('are summed up by their uuid, wherever it stands', async () => {
    const uuids = ['018e0000-0000-7000-8000-000000000001', '018e0000-0000-7000-8000-000000000002']
    const texts = [
      `uuid,text\r\n${uuids.map((uuid) => `${uuid},"a, ""b""\n"\r\n`).join('')}`,
      `text,uuid\r\n${uuids
        .toReversed()
        .map((uuid) => `"a, ""b""\n",${uuid}\r\n`)
        .join('')}`,
    ]
    const parquet = () => Promise.reject(new Error('no Parquet here'))
    const sumsOf = async (text: string, uuid_at: number, chunk_bytes: number) => {
      const reading = { encoding: CSV, uuid_at, folder: '', stall_ms: 10_000, parquet }
      return (await readContent(Readable.from(chunksOf(Buffer.from(text), chunk_bytes)), reading)).uuids
    }
    const sums = (await sumsOf(texts[0]!, 0, 1_000))!
    expect(sums.rows).toBe(2)
    expect(sums.sums).not.toEqual([0, 0])
    for (const chunk_bytes of [1, 2, 3, 7, 37, 38, 1_000]) {
      for (const [uuid_at, text] of texts.entries())
        expect(await sumsOf(text, uuid_at, chunk_bytes)).toEqual(sums)
    }
    expect(await sumsOf(texts[0]!.replace('0001', '0003'), 0, 1_000)).not.toEqual(sums)
  })

  it('are fewer in a file that was cut off', async () => {
    expect(await rowsIn(FILE.slice(0, -3), CSV)).toBe(4)
  })
})

it('rows of JSONLines are its lines', async () => {
  const lines = '{"a":"x \\" y"}\n{"a":null}\n{"a":"\\n"}\n'
  expect(await rowsIn(lines, { ...plain, format: 'JSONLines' })).toBe(3)
  expect(await rowsIn('', { ...plain, format: 'JSONLines' })).toBe(0)
})

it('uuids of the store, as COPY text, are summed up like those of JSONLines', async () => {
  const texts = ['018e0000-0000-7000-8000-000000000001', 'a\\b\tc\nd\re', '', 'ü', String.raw`\N`]
  const lines = [...texts, null].map((uuid) => `${JSON.stringify({ uuid })}\n`).join('')
  const escaped = texts.map((text) =>
    text
      .replaceAll('\\', String.raw`\\`)
      .replaceAll('\t', String.raw`\t`)
      .replaceAll('\n', String.raw`\n`)
      .replaceAll('\r', String.raw`\r`),
  )
  const path = join(tmpdir(), `uuids-${randomUUID()}`)
  await writeFile(path, [...escaped, String.raw`\N`].map((line) => `${line}\n`).join(''))
  const encoding: Encoding = { ...plain, format: 'JSONLines' }
  const parquet = () => Promise.reject(new Error('no Parquet here'))
  const reading = { encoding, uuid_at: 0, folder: '', stall_ms: 10_000, parquet }
  const { uuids } = await readContent(Readable.from([Buffer.from(lines)]), reading)
  expect(await sumUuids(path)).toEqual(uuids)
  expect(uuids!.rows).toBe(6)
  await rm(path)
})
