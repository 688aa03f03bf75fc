// CSV files: what each begins with. That every row is in them, once, in order and the same every time is shown for all
// formats in encode.test.ts; how values are spelled is the event store's matter.
import { expect, it } from 'vitest'
import { plainRows } from '../../../platform/event-store/fixture/plain-rows.ts'
import type { Encoding } from './encoding.ts'
import { numbered, upTo } from './fixture/numbered-rows.ts'
import { numbersOf } from './fixture/read-back.ts'
import { expectSound, useFiles } from './fixture/use-files.ts'

const { filesOf, staged } = useFiles()
const CSV = { format: 'CSV', compression: null, has_header: true } as const

const ODD_NAMES = plainRows({
  sql: `SELECT 1::BIGINT AS position, 'a' AS c1, '' AS c2, NULL::VARCHAR AS c3, '{"b":"c"}' AS c4, 'd' AS c5`,
  columns: [
    { name: 'plain', kind: 'text' },
    { name: 'ünï, 💥', kind: 'text' },
    { name: 'line\nbreak', kind: 'text' },
    { name: 'say "hi"', kind: 'json' },
    { name: '', kind: 'text' },
  ],
})
const HEADER = 'plain,"ünï, 💥","line\nbreak","say ""hi""",""\r\n'
const ROW = 'a,"",,"{""b"":""c""}",d\r\n'

it('begins with the names of its columns, in quotes where they need them, and without a byte order mark', async () => {
  const [file] = await filesOf(ODD_NAMES, CSV)
  expect(String(file!.content)).toBe(HEADER + ROW)
  expect(file!.rows).toBe(1)
})

it('begins with its first row when there is to be no header', async () => {
  const [file] = await filesOf(ODD_NAMES, { ...CSV, has_header: false })
  expect(String(file!.content)).toBe(ROW)
})

it.each<Partial<Encoding>>([{ max_rows: 3000 }, { max_bytes: 500_000 }])(
  'begins with them in every file of a run, and only there: %o',
  async (limit) => {
    const files = await filesOf(numbered(12_000), { ...CSV, ...limit })
    expect(files.length).toBeGreaterThan(2)
    expectSound(files, 12_000)
    for (const { content } of files) {
      expect(String(content).split('n,text,json,at\r\n')).toEqual(['', expect.stringMatching(/^\d/)])
    }
    const found = await Promise.all(files.map(({ content }) => numbersOf(content, CSV)))
    expect(found.map(({ length }) => length)).toEqual(files.map(({ rows }) => rows))
    expect(found.flat()).toEqual(upTo(12_000))
    expect(await staged()).toEqual([])
  },
)
