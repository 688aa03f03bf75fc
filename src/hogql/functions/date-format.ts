// formatDateTime: ClickHouse's letters in DuckDB's. Those that strftime lacks are printed by themselves.
import { queryError } from '../errors.ts'
import { constantText, type Named, nth, once, read, TEXT } from './define.ts'

/** ClickHouse's letter to the strftime text that means the same. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ...[...'abdfGHIjmpSuVwyY%'].map((letter) => [letter, `%${letter}`] as const),
  ['c', '%m'],
  ['D', '%m/%d/%y'],
  ['F', '%Y-%m-%d'],
  ['h', '%I'],
  ['i', '%M'],
  ['M', '%B'],
  ['n', '\n'],
  ['r', '%I:%M %p'],
  ['R', '%H:%M'],
  ['s', '%S'],
  ['t', '\t'],
  ['T', '%H:%M:%S'],
  ['W', '%A'],
])

const padded = (sql: string) => `lpad(cast(${sql} as varchar), 2, '0')`

/** Letters that strftime has no word for. */
const EXPRESSIONS: ReadonlyMap<string, (clock: string) => string> = new Map([
  ['C', (clock: string) => padded(`year(${clock}) // 100`)],
  ['e', (clock: string) => `cast(day(${clock}) as varchar)`],
  ['g', (clock: string) => padded(`isoyear(${clock}) % 100`)],
  ['k', (clock: string) => padded(`hour(${clock})`)],
  ['l', (clock: string) => padded(`(hour(${clock}) + 11) % 12 + 1`)],
  ['Q', (clock: string) => `cast(quarter(${clock}) as varchar)`],
])

type Piece = { format: string } | { expression: (clock: string) => string }

const letterPiece = (letter: string): Piece => {
  const format = FORMATS.get(letter)
  if (format !== undefined) return { format }
  const expression = EXPRESSIONS.get(letter)
  if (expression) return { expression }
  throw queryError(`formatDateTime knows no %${letter}.`)
}

const piecesOf = (format: string): Piece[] => {
  const pieces: Piece[] = []
  for (const [, letter, plain = ''] of format.matchAll(/%(.?)|([^%]+)/gsu)) {
    const piece = letter === undefined ? { format: plain } : letterPiece(letter)
    const last = pieces.at(-1)
    if (last && 'format' in last && 'format' in piece) last.format += piece.format
    else pieces.push({ ...piece })
  }
  return pieces
}

export const formatDateTime: Named = {
  name: 'formatDateTime',
  args: [2, 2],
  type: TEXT,
  duckdb: (args, printing) => {
    const pieces = piecesOf(constantText(args[1], 'The format of formatDateTime'))
    const print = (piece: Piece, clock: string) =>
      'format' in piece ? `strftime(${clock}, ${printing.bind(piece.format)})` : piece.expression(clock)
    const clock = read('local', nth(args, 0), printing)
    const [only, ...others] = pieces
    if (!only) throw queryError('The format of formatDateTime is empty.')
    if (others.length === 0 && 'format' in only) return print(only, clock)
    return once([clock], (it) => `(${pieces.map((piece) => print(piece, it)).join(' || ')})`)
  },
  clickhouse: (args, printing) =>
    `formatDateTime(${read('local', nth(args, 0), printing)}, ${printing.bind(constantText(args[1], 'The format'))})`,
}
