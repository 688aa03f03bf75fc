// Queries for attacks, and for the fuzz.

const chain = (count: number, step: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => step(n)).join(', ')
const nested = (depth: number, open: string, core: string, close: string) =>
  open.repeat(depth) + core + close.repeat(depth)

/** For engines: plans that double, and work without an end. */
export const QUERY_BOMBS: [string, string][] = [
  [
    'thirty queries, each joined with itself',
    `with c0 as (select 1 as x), ${chain(29, (n) => `c${n + 1} as (select * from c${n} a, c${n} b)`)} select count() from c29`,
  ],
  [
    'twelve queries, each joined with itself three times',
    `with c0 as (select 1 as x union all select 2), ${chain(12, (n) => `c${n + 1} as (select a.x from c${n} a, c${n} b, c${n} c)`)} select count() from c12`,
  ],
  [
    'twenty unions of what was before',
    `with c0 as (select 1 as x), ${chain(20, (n) => `c${n + 1} as (select x from c${n} union all select x from c${n})`)} select count() from c20`,
  ],
  [
    'subqueries that hold each other twice',
    nested(14, 'select x from (select 1 as x) where x in (', 'select 1', ')'),
  ],
  [
    'events joined with themselves',
    `select count() from events ${chain(9, (n) => `${n}`)
      .split(', ')
      .map((n) => `cross join events e${n}`)
      .join(' ')}`,
  ],
  ['a long list of numbers', 'select sum(x) from (select arrayJoin(range(1, 100000000000)) as x)'],
  [
    'lists of lists',
    `select length(${nested(12, 'arrayFlatten(arrayMap(i -> range(1, 1000), ', 'range(1, 1000)', '))')})`,
  ],
  ['a long text', `select length(repeat('x', 100000000000))`],
  ['texts of texts', `select length(${nested(12, `repeat(`, `'xxxxxxxxxx'`, ', 1000)')})`],
  ['a pattern that backtracks', `select match(repeat('a', 100000), '(a+)+(a+)+(a+)+b')`],
  ['a pattern that repeats', `select match('a', '((((a{1,100}){1,100}){1,100}){1,100})')`],
  ['a LIKE of many stars', `select repeat('a', 100000) like '${'%a'.repeat(200)}b'`],
  ['pads', `select length(leftPad('x', 100000000000, 'y'))`],
  [
    'groups of groups',
    `select ${chain(40, (n) => `uniq(concat(toString(timestamp), '${n}'))`)} from events a cross join events b cross join events c`,
  ],
  ['a sort of everything', 'select arraySort(x -> -x, range(1, 500000000)) as x'],
  [
    'a window over a product',
    'select sum(1) over (order by a.timestamp) from events a cross join events b cross join events c cross join events d limit 1',
  ],
]

/** For readers of the text: trees that are deep, wide or double by their names. */
export const TEXT_BOMBS: [string, string][] = [
  ['names that double', `with 1 as x0, ${chain(24, (n) => `(x${n} + x${n}) as x${n + 1}`)} select x24`],
  [
    'names that triple',
    `with 1 as x0, ${chain(16, (n) => `concat(x${n}, x${n}, x${n}) as x${n + 1}`)} select x16`,
  ],
  [
    'columns that double',
    `select ${chain(40, (n) => (n === 0 ? '1 as y0' : `(y${n - 1} + y${n - 1}) as y${n}`))}`,
  ],
  ['brackets', `select ${nested(50_000, '(', '1', ')')}`],
  ['lists', `select ${nested(50_000, '[', '1', ']')}`],
  ['NOTs', `select ${'not '.repeat(50_000)}true`],
  ['minuses', `select ${'- '.repeat(50_000)}1`],
  ['sums', `select ${'1 + '.repeat(100_000)}1`],
  ['ANDs', `select 1 from events where ${'event = 1 and '.repeat(30_000)}true`],
  ['a long IN', `select 1 from events where event in (${chain(100_000, (n) => `'${n}'`)})`],
  ['columns', `select ${chain(50_000, (n) => `event as c${n}`)} from events`],
  ['calls within calls', `select ${nested(5_000, 'lower(', `'x'`, ')')}`],
  ['lambdas within lambdas', `select ${nested(300, 'arrayMap(x -> ', '[1]', ', [1])')}`],
  ['cases', `select ${nested(5_000, 'if(true, ', '1', ', 2)')}`],
  ['subqueries', `select * from ${nested(2_000, '(select * from ', '(select 1)', ')')}`],
  ['queries of a WITH', `with ${chain(20_000, (n) => `c${n} as (select ${n})`)} select 1`],
  [
    'joins',
    `select 1 from events ${Array.from({ length: 2_000 }, (_, n) => `join events e${n} on e${n}.event = events.event`).join(' ')}`,
  ],
  ['unions', Array(5_000).fill('select 1').join(' union all ')],
  ['a comment without an end', `select 1 /* ${'*'.repeat(200_000)}`],
  ['a text without an end', `select '${'\\\\'.repeat(100_000)}`],
  ['blanks', `select${' '.repeat(200_000)}1`],
  ['placeholders', `select ${chain(20_000, () => '{x}')}`],
]
