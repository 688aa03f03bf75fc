import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cleanedBytes, Stretches } from './cleaned.ts'

const MB = 1024 * 1024
const COLUMNS = [
  { name: 'number', kind: 'integer' as const },
  { name: 'json', kind: 'json' as const },
]

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'longshore-cleaned-'))))
afterAll(() => rm(folder, { recursive: true }))

/** What comes out of a file with this text, and how often something was taken out. */
async function through(text: string, memory = new Stretches()) {
  const path = join(folder, 'file')
  await writeFile(path, text)
  const parts: Buffer[] = []
  let times = 0
  memory.takeBack()
  for await (const part of cleanedBytes(path, COLUMNS, memory, new AbortController().signal, () => times++))
    parts.push(part)
  return { text: Buffer.concat(parts).toString(), parts: parts.length, times }
}

const linesOf = (count: number, length: number, mark: string) =>
  Array.from({ length: count }, (_, index) => `${index}\t"${mark.repeat(length)}"\n`).join('')

it('bytes go through as they are, in messages that are not large', async () => {
  const text = linesOf(3_000, 1_000, 'ä')
  const result = await through(text)
  expect(result.text === text).toBe(true)
  expect(result.times).toBe(0)
  expect(result.parts).toBeGreaterThanOrEqual(Buffer.byteLength(text) / (64 * 1024))
})

it('so do lines that are longer than anything is read at a time, and a file without an end of line', async () => {
  const text = `1\t"${'x'.repeat(5 * MB)}"\n2\t"${'y'.repeat(MB)}"\n3\t"z"`
  expect((await through(text)).text === text).toBe(true)
})

it('one file after the other through the same memory', async () => {
  const memory = new Stretches()
  for (const mark of ['a', 'b', 'c']) {
    const text = linesOf(5_000, 700, mark)
    expect((await through(text, memory)).text === text).toBe(true)
  }
})

it('what jsonb cannot hold is taken out, wherever it stands in a large file', async () => {
  const [before, after] = [linesOf(2_000, 1_000, 'x'), linesOf(2_000, 1_000, 'y')]
  const result = await through(`${before}7\t"a\\\\u0000b"\n${after}`)
  expect(result.text === `${before}7\t"ab"\n${after}`).toBe(true)
  expect(result.times).toBe(1)
})
