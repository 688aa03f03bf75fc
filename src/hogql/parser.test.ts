// What the parser gives: trees with their places, errors with theirs, and the limits.
import { describe, expect, it } from 'vitest'
import type { Expr } from './ast.ts'
import { HogqlError } from './errors.ts'
import { sameTree, type Sample } from './fixture/corpus.ts'
import { parseExpression, parseOrder, parseSelect } from './parser.ts'

const PARSE = { expression: parseExpression, query: parseSelect, order: parseOrder }

function errorOf(parse: () => unknown): HogqlError {
  try {
    parse()
  } catch (error) {
    if (error instanceof HogqlError) return error
    throw error
  }
  throw new Error('The text was read')
}

type Place = { path: string; start: number; end: number }

/** Every node below `tree` with its place. */
function places(tree: unknown, path = ''): (Place | { path: string; missing: true })[] {
  if (Array.isArray(tree)) return tree.flatMap((item, index) => places(item, `${path}[${index}]`))
  if (tree === null || typeof tree !== 'object') return []
  const { node, start, end, ...fields } = tree as { node?: string; start?: number; end?: number }
  const below = Object.entries(fields).flatMap(([name, value]) => places(value, `${path}.${name}`))
  if (!node) return below
  return [start === undefined || end === undefined ? { path, missing: true } : { path, start, end }, ...below]
}

describe('places', () => {
  it('are on every node of every text, inside the text and in order', () => {
    const isWrong = ({ rule, text }: Sample) =>
      places(PARSE[rule](text)).some(
        (place) =>
          'missing' in place || place.start < 0 || place.start > place.end || place.end > text.length,
      )
    expect(sameTree().filter(isWrong)).toEqual([])
  })

  it.each<[text: string, find: (tree: Expr) => unknown, part: string]>([
    ['a + b * c', (tree) => tree, 'a + b * c'],
    ['a + b * c', (tree) => tree.node === 'ArithmeticOperation' && tree.right, 'b * c'],
    ['(a + b) * c', (tree) => tree, '(a + b) * c'],
    ["x and  f( y , 'z' ) ", (tree) => tree.node === 'And' && tree.exprs[1], "f( y , 'z' )"],
    ['a.b.c as d', (tree) => tree.node === 'Alias' && tree.expr, 'a.b.c'],
    ['not  (select 1)', (tree) => tree, 'not  (select 1)'],
    ["'😀' = b", (tree) => tree.node === 'CompareOperation' && tree.right, 'b'],
  ])('%s', (text, find, part) => {
    const node = find(parseExpression(text)) as { start: number; end: number }
    expect(text.slice(node.start, node.end)).toBe(part)
  })

  it('leave out what was not written', () => {
    expect(parseSelect('select a from t')).toEqual({
      node: 'SelectQuery',
      select: [{ node: 'Field', chain: ['a'], start: 7, end: 8 }],
      select_from: {
        node: 'JoinExpr',
        table: { node: 'Field', chain: ['t'], start: 14, end: 15 },
        start: 14,
        end: 15,
      },
      start: 0,
      end: 15,
    })
  })
})

describe('numbers a double cannot hold', () => {
  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['0xffffffffffffffff', '18446744073709551615'],
    ['1e400', 'Infinity'],
    ['-inf', '-Infinity'],
    ['nan', 'NaN'],
  ])('%s keeps its digits', (text, value) => {
    expect(parseExpression(text)).toMatchObject({ value, value_type: 'number' })
  })

  it.each([
    ['9007199254740991', 9007199254740991],
    ['1.5', 1.5],
    ['9007199254740993.5', 2 ** 53 + 2],
  ])('%s needs no mark', (text, value) => {
    expect(parseExpression(text)).toEqual({ node: 'Constant', value, start: 0, end: text.length })
  })
})

describe('names of windows', () => {
  it('cannot reach a prototype', () => {
    const query = parseSelect('select 1 from t window __proto__ as (order by a), toString as ()')
    const windows = query.node === 'SelectQuery' ? query.window_exprs : undefined
    expect(Object.keys(windows ?? {})).toEqual(['__proto__', 'toString'])
    expect(Object.getPrototypeOf(windows)).toBeNull()
    expect({}).not.toHaveProperty('order_by')
  })
})

describe('errors say what was expected, and where', () => {
  it.each([
    ['', 'Expected SELECT, found the end of the text', 0],
    ['selec 1', `Expected SELECT, found "selec". Did you mean 'SELECT'?`, 0],
    ['select a frm events', `Unexpected "frm". Did you mean 'FROM'?`, 9],
    ['select a form events', `Unexpected "form". Did you mean 'FROM'?`, 9],
    ['select a from t wher b', `Unexpected "wher". Did you mean 'WHERE'?`, 16],
    ['select (select 1 frm t)', `Unexpected "frm". Did you mean 'FROM'?`, 17],
    [
      'select a from t where b gruop by a',
      `Expected the end of the text, found "gruop". Did you mean 'GROUP'?`,
      24,
    ],
    ['select a from t where b adn c', `Expected the end of the text, found "adn". Did you mean 'AND'?`, 24],
    ['select * frm events', `Unexpected "frm". Did you mean 'FROM'?`, 9],
    ['select count() frm events', `Unexpected "frm". Did you mean 'FROM'?`, 15],
    ['select count(form from events', 'Expected ")", found "from"', 18],
    ['select sum(a + line from events', 'Expected ")", found "from"', 20],
    ['select [1, line from events', 'Expected "]", found "from"', 16],
    ['select a from t group by line 5', 'Expected the end of the text, found "5"', 30],
    ['select case when a then form from t', 'Expected END, found "from"', 29],
    ['select 1 "frm" t', 'Expected the end of the text, found "t"', 15],
    ['select', 'Expected an expression, found the end of the text', 6],
    ['select a from', 'Expected a table, found the end of the text', 13],
    ['select a from t where', 'Expected an expression, found the end of the text', 21],
    ['select a from t where b c', 'Expected the end of the text, found "c"', 24],
    ['select (a from t', 'Expected ",", found "from"', 10],
    ['select f(a', 'Expected ")", found the end of the text', 10],
    ['select a from t join (select 1 on b', 'Expected ")", found "on"', 31],
    ['select 1; select 2', 'Expected the end of the text, found "select"', 10],
    ['select a from t array join b', 'An array of ARRAY JOIN needs a name: write … as name', 27],
    ['select a array join b as c', 'ARRAY JOIN needs a FROM before it', 9],
    ['select from events', 'Expected a column, found "from"', 7],
    ['select a as team_id', '"team_id" cannot be an alias', 12],
    ["select 'a", 'This quote is not closed', 7],
    ["select 'a\\q'", 'Unknown escape: write \\\\ for a backslash', 9],
    ['select a /* b', 'This comment is not closed', 9],
    ['select a }', 'This "}" closes nothing', 9],
    ['select é', 'Unexpected character "é"', 7],
    ['select a\0', 'The text holds a NUL character', 8],
    ["select '\ud800'", 'The text holds half of a character', 8],
    ["select interval '1 fortnight'", "An interval in quotes must read like '7 days'", 16],
    ['select interval 1 days', expect.stringMatching(/^Expected a unit of time .*, found "days"$/), 18],
    ['select case when a then b', 'Expected END, found the end of the text', 25],
    ['select a is 1', 'Expected NULL or DISTINCT FROM, found "1"', 12],
    [`select ${'x'.repeat(50)} 1`, 'Expected the end of the text, found "1"', 58],
    [`select 1 ${'x'.repeat(50)} y 1`, 'Expected the end of the text, found "y"', 60],
  ])('%s', (text, message, start) => {
    expect(errorOf(() => parseSelect(text))).toMatchObject({ message, start })
  })

  it('repeat no more than 40 characters of the text', () => {
    expect(errorOf(() => parseExpression(`a ${'x'.repeat(60)}`)).message).toBe(
      `Expected the end of the text, found "${'x'.repeat(40)}…"`,
    )
  })

  it('tell what does not parse from what is not supported', () => {
    expect(errorOf(() => parseSelect('select a from')).kind).toBe('syntax')
    expect(errorOf(() => parseSelect('select a from t settings b'))).toMatchObject({
      kind: 'query',
      message: 'SETTINGS is not supported',
      start: 16,
      end: 24,
    })
  })
})

describe('limits', () => {
  const repeat = (count: number, part: string, joint: string) =>
    Array.from({ length: count }, () => part).join(joint)

  it('take 5,000 terms of AND and OR as one node', () => {
    expect(parseExpression(repeat(5000, 'a = 1', ' and '))).toMatchObject({
      node: 'And',
      exprs: { length: 5000 },
    })
    expect(parseExpression(repeat(5000, 'a = 1', ' or '))).toMatchObject({
      node: 'Or',
      exprs: { length: 5000 },
    })
    expect(parseExpression(repeat(5000, 'a', '||'))).toMatchObject({ name: 'concat', args: { length: 5000 } })
  })

  it('take a text of 64 KB, counted in UTF-8, and no more', () => {
    const fits = `'${'é'.repeat(32 * 1024 - 1)}'`
    expect(parseExpression(fits)).toMatchObject({ node: 'Constant', end: fits.length })
    expect(errorOf(() => parseExpression(`${fits} `))).toMatchObject({
      message: 'The text is longer than 65536 bytes',
      start: fits.length + 1,
    })
  })

  it('take 500 columns, and no more', () => {
    expect(parseSelect(`select ${repeat(500, 'a', ',')} from t`)).toMatchObject({ select: { length: 500 } })
    expect(errorOf(() => parseSelect(`select ${repeat(501, 'a', ',')} from t`))).toMatchObject({
      message: 'More than 500 columns are selected',
      start: 1007,
    })
  })

  it('take 64 tables, and no more', () => {
    expect(() => parseSelect(`select 1 from ${repeat(64, 'a', ' join ')}`)).not.toThrow()
    expect(errorOf(() => parseSelect(`select 1 from ${repeat(65, 'a', ' join ')}`)).message).toBe(
      'More than 64 tables are joined',
    )
  })

  it.each([
    ['(', 'a', ')'],
    ['[', 'a', ']'],
    ['f(', 'a', ')'],
    ['a[', 'a', ']'],
    ['{x: ', 'a', '}'],
    ["f'{", 'a', "}'"],
    ['(select ', '1', ')'],
    ['case when a then ', 'b', ' end'],
    ['not ', 'a', ''],
    ['- ', 'a', ''],
    ['x -> ', 'a', ''],
    ['cast(', 'a', ' as int)'],
  ])('take 128 levels of %s, and no more', (open, inside, close) => {
    const nest = (levels: number) => open.repeat(levels) + inside + close.repeat(levels)
    expect(() => parseExpression(nest(128))).not.toThrow()
    const error = errorOf(() => parseExpression(nest(129)))
    expect(error.message).toBe('This is nested more than 128 levels deep')
    // The 129th, or what stands in it.
    expect(error.start).toBeGreaterThanOrEqual(open.length * 128)
    expect(error.start).toBeLessThanOrEqual(open.length * 129)
  })

  it.each(['+', '=', '??', '-', ' is distinct from '])(
    'take 256 operations with %s in a row, and no more',
    (operator) => {
      expect(() => parseExpression(repeat(257, 'a', operator))).not.toThrow()
      expect(errorOf(() => parseExpression(repeat(258, 'a', operator))).message).toBe(
        'More than 256 operations build on one another here',
      )
    },
  )

  it('count operators and brackets together, so that no tree is higher', () => {
    const text = `(((a${`${'+a'.repeat(100)})`.repeat(3)}`
    expect(errorOf(() => parseExpression(text)).message).toBe(
      'More than 256 operations build on one another here',
    )
  })
})
