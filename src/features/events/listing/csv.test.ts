// CSV: how records become columns and cells.
import { describe, expect, it } from 'vitest'
import { cellsOfRecord, writeCsv } from './csv.ts'

async function csv(
  records: readonly Record<string, unknown>[],
  header: readonly string[] = ['none'],
): Promise<string> {
  const pieces = await writeCsv({
    rows: records,
    weightOf: () => 20_000,
    cellsOf: (record) => [cellsOfRecord(record)],
    header_of_nothing: header,
  })
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

describe('writeCsv', () => {
  it.each<[string, Record<string, unknown>[], string]>([
    ['no rows: the header alone', [], 'none\r\n'],
    ['nested values by their path', [{ a: { b: [1, { c: 2 }] } }], 'a.b.0,a.b.1.c\r\n1,2\r\n'],
    [
      'the union of all rows, missing cells empty',
      [{ a: 1 }, { b: 2 }, { a: 3 }],
      'a,b\r\n1,\r\n,2\r\n3,\r\n',
    ],
    [
      'null as an empty cell, empty lists and objects as no column',
      [{ a: null, b: [], c: {}, d: 1 }],
      'a,d\r\n,1\r\n',
    ],
    [
      'booleans and numbers as in JSON',
      [{ a: true, b: false, c: -1.5, d: 1e21 }],
      'a,b,c,d\r\ntrue,false,-1.5,1e+21\r\n',
    ],
    [
      'quotes, commas and line ends in quotes',
      [{ a: 'x"y', b: 'x,y', c: 'x\r\ny', d: ' x' }],
      'a,b,c,d\r\n"x""y","x,y","x\r\ny", x\r\n',
    ],
    [
      'the header sorted by code point',
      [{ b: 1, a: 1, B: 1, '😀': 1, '\uffee': 1, 'a.b': 1 }],
      'B,a,a.b,b,\uffee,😀\r\n1,1,1,1,1,1\r\n',
    ],
    ['names of the header in quotes', [{ 'a,b': 1 }], '"a,b"\r\n1\r\n'],
    [
      'a name that objects know',
      [JSON.parse('{"__proto__":1,"constructor":2}')],
      '__proto__,constructor\r\n1,2\r\n',
    ],
  ])('%s', async (_, records, expected) => {
    expect(await csv(records)).toBe(expected)
  })

  it.each([
    ['=1+1', `'=1+1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['+cmd', `'+cmd`],
    ['-cmd', `'-cmd`],
    ['-1+1', `'-1+1`],
    ['\tx', `'\tx`],
    ['\rx', `"'\rx"`],
    ['-5', '-5'],
    ['+49', '+49'],
    ['-1.5e-7', '-1.5e-7'],
    ['a=b', 'a=b'],
  ])('no spreadsheet runs %j', async (given, cell) => {
    expect(await csv([{ a: given }])).toBe(`a\r\n${cell}\r\n`)
  })

  it('numbers are never touched', async () => {
    expect(await csv([{ a: -5 }])).toBe('a\r\n-5\r\n')
  })

  it('what lies very deep stays JSON in one cell', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) as Record<string, unknown>
    const [header, line] = (await csv([deep])).split('\r\n')
    expect(header).toBe(Array(20).fill('a').join('.'))
    expect(JSON.parse(line!.slice(1, -1).replaceAll('""', '"'))).toEqual(
      JSON.parse(`${'{"a":'.repeat(10)}1${'}'.repeat(10)}`),
    )
  })

  it('refuses a table of more cells than anybody reads', async () => {
    const wide = (row: number) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${row}-${index}`, 1]))
    await expect(csv(Array.from({ length: 1000 }, (_, row) => wide(row)))).rejects.toMatchObject({
      status: 400,
      attr: 'limit',
    })
  })
})
