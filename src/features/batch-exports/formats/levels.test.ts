// Levels of compression: that each compressor is told, what holds when nobody chose one, and that files still end where
// they should.
// @module-tag slow
import { expect, it } from 'vitest'
import type { Compression, Encoding } from './encoding.ts'
import { numbered, upTo } from './fixture/numbered-rows.ts'
import { numbersOf } from './fixture/read-back.ts'
import { expectSound, useFiles } from './fixture/use-files.ts'

const { filesOf } = useFiles()

async function hashesAndSizes(encoding: Partial<Encoding>, levels: readonly (number | null)[]) {
  const found: { bytes: number; sha256: string }[] = []
  for (const compression_level of levels) {
    const [file] = await filesOf(numbered(1000), { ...encoding, compression_level })
    expect(file!.rows).toBe(1000)
    found.push({ bytes: file!.bytes, sha256: file!.sha256 })
  }
  return found
}

it.each<[Encoding['format'], Compression, low: number, high: number]>([
  ['JSONLines', 'gzip', 1, 9],
  ['CSV', 'gzip', 1, 9],
  ['JSONLines', 'brotli', 0, 11],
  ['CSV', 'brotli', 0, 11],
  ['Parquet', 'zstd', 3, 22],
])('files of %s by %s are larger at %i than at %i', async (format, compression, low, high) => {
  const [large, small] = await hashesAndSizes({ format, compression }, [low, high])
  expect(small!.bytes).toBeLessThan(large!.bytes)
})

it.each<[Encoding['format'], Compression, number]>([
  ['JSONLines', 'gzip', 2],
  ['CSV', 'gzip', 2],
  ['JSONLines', 'brotli', 1],
  ['Parquet', 'zstd', 3],
])('without one, %s by %s has level %i', async (format, compression, level) => {
  const [chosen, none, next] = await hashesAndSizes({ format, compression }, [level, null, level + 1])
  expect(none).toEqual(chosen)
  expect(next).not.toEqual(chosen)
})

it('a high one of brotli still ends files near the limit', async () => {
  const encoding = { format: 'JSONLines', compression: 'brotli', compression_level: 9 } as const
  const max_bytes = 500_000
  const files = await filesOf(numbered(24_000), { ...encoding, max_bytes })
  expectSound(files, 24_000)
  expect(files.length).toBeGreaterThan(2)
  for (const { bytes } of files.slice(0, -1)) expect(bytes).toBeLessThan(1.5 * max_bytes)
  const found = await Promise.all(files.map(({ content }) => numbersOf(content, encoding)))
  expect(found.flat()).toEqual(upTo(24_000))
})
