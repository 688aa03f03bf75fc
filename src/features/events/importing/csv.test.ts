// CSV: cells, separators, records over several lines, and how reading goes on behind a fault.
import { describe, expect, it } from 'vitest'
import { Refusal } from '../capture/refusal.ts'
import { splitCsvCells } from './csv-cells.ts'
import { readCsv } from './csv.ts'

describe('cells of a line', () => {
  it.each([
    ['a,b,c', ['a', 'b', 'c']],
    ['a;b;c', ['a', 'b', 'c']],
    ['a\tb\tc', ['a', 'b', 'c']],
    ['a,,', ['a', '', '']],
    ['"a","b,c","d ""e"""', ['a', 'b,c', 'd "e"']],
    ['"",x', ['', 'x']],
    ['a,"b"\r', ['a', 'b']],
    ['a,b\r', ['a', 'b']],
    ['a,"b', null],
    ['a,b"c', null],
    ['a,"b"c', null],
  ])('%j', (line, cells) => {
    expect(splitCsvCells(line)?.cells ?? null).toEqual(cells)
  })
})

async function read(text: string, piece = 1000) {
  const chunks = async function* () {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const found: [number, unknown][] = []
  for await (const rows of readCsv(chunks())) {
    for (const row of rows) {
      try {
        found.push([row.line, { ...row.read() }])
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        found.push([row.line, `${error.fault.detail} | ${row.text()}`])
      }
    }
  }
  return found
}

const HEAD = 'event,distinct_id,note\n'

describe('records', () => {
  it.each([1, 3, 1000])(
    'over several lines, with CRLF inside and outside, in pieces of %i bytes',
    async (piece) => {
      expect(await read('event,note\r\na,"one\r\ntwo\n\nthree"\r\n\r\nb,\r\n', piece)).toEqual([
        [2, { event: 'a', note: 'one\r\ntwo\n\nthree' }],
        [7, { event: 'b' }],
      ])
    },
  )

  it('a byte order mark and blank lines before the header are passed over', async () => {
    expect(await read('\uFEFF\n\nevent,distinct_id\na,b')).toEqual([[4, { event: 'a', distinct_id: 'b' }]])
  })

  it('a stray quote costs its own line and no other', async () => {
    const lines = ['a,1,"never closed', 'b,2,fine', 'c,3,"quoted, too"', 'd,4,x"y', 'e,5,z']
    expect(await read(HEAD + lines.join('\n'))).toEqual([
      [2, 'a quote stands where none may | a,1,"never closed'],
      [3, { event: 'b', distinct_id: '2', note: 'fine' }],
      [4, { event: 'c', distinct_id: '3', note: 'quoted, too' }],
      [5, 'a quote stands where none may | d,4,x"y'],
      [6, { event: 'e', distinct_id: '5', note: 'z' }],
    ])
  })

  it('a quote that nothing closes: the lines behind it are read again', async () => {
    expect(await read(`${HEAD}a,1,"open\nb,2,fine\nc,3,\n`)).toEqual([
      [2, 'a quote is opened and never closed | a,1,"open'],
      [3, { event: 'b', distinct_id: '2', note: 'fine' }],
      [4, { event: 'c', distinct_id: '3' }],
    ])
  })

  it('a quote that is not closed within 1 MB', async () => {
    const filler = Array.from({ length: 1200 }, (_, index) => `b,${index},${'x'.repeat(1000)}`)
    const rows = await read(`${HEAD}a,1,"open\n${filler.join('\n')}\n`, 65_536)
    expect(rows[0]).toEqual([2, 'a quote is opened and not closed within 1 MB | a,1,"open'])
    expect(rows).toHaveLength(1201)
    expect(rows.slice(1).every(([, fields]) => typeof fields === 'object')).toBe(true)
  })

  it('too few and too many cells', async () => {
    expect(await read(`${HEAD}a,1\na,1,2,3\n`)).toEqual([
      [2, 'the line has 2 cells, the header 3 | a,1'],
      [3, 'the line has 4 cells, the header 3 | a,1,2,3'],
    ])
  })

  it('a column named __proto__ harms nothing', async () => {
    await read('event,distinct_id,__proto__\na,b,{"polluted":true}\n')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
