// Functions that only make sense with OVER. Aggregates work with OVER too and are not repeated here.
import type { Value } from '../value.ts'
import { bring } from './common-type.ts'
import { areCertain, defaultOf } from './certainty.ts'
import { call, FLOAT, INTEGER, type Named, nth, read } from './define.ts'
import type { Aggregate } from './function.ts'

const ranking = (name: string, type: Named['type'], aliases?: string[]): Named => ({
  name,
  aliases,
  args: [0, 0],
  type,
  duckdb: () => `${name}()`,
})

const typeOfFirst = (args: readonly Value[]) => nth(args, 0).type

/** The row so many before or after; the third argument where there is none, else the default of a value that is never NULL. */
const neighbour = (name: string, duckdb: 'lag' | 'lead'): Named<Aggregate> => {
  const isDefaulted = name !== duckdb
  const areThere = (args: readonly Value[]) => isDefaulted && areCertain(args.slice(0, 1))
  const texts: (...given: Parameters<Named['duckdb']>) => string[] = (args, printing) => [
    nth(args, 0).sql,
    ...args.slice(1, 2).map((value) => read('integer', value, printing)),
    ...args.slice(2).map((value) => bring(value, typeOfFirst(args), printing)),
  ]
  return {
    name,
    args: [1, 3],
    type: typeOfFirst,
    certain: areThere,
    orElse: (args, type) => (areThere(args) && args.length < 3 ? defaultOf(type) : null),
    duckdb: (args, printing, params) => call(duckdb, texts(args, printing, params)),
    clickhouse: (args, printing, params) => {
      const [value = '', ...others] = texts(args, printing, params)
      return call(`${duckdb}InFrame`, [isDefaulted ? value : `toNullable(${value})`, ...others])
    },
  }
}

const ofFrame = (name: string): Named => ({
  name,
  args: [1, 1],
  type: typeOfFirst,
  duckdb: (args) => call(name, [nth(args, 0).sql]),
})

const counted = (name: string, type: Named['type'], values: number): Named => ({
  name,
  args: [values + 1, values + 1],
  type,
  duckdb: (args, printing) =>
    call(name, [
      ...args.slice(0, values).map(({ sql }) => sql),
      read('integer', nth(args, values), printing),
    ]),
  clickhouse: (args, printing) =>
    call(name, [
      ...args.slice(0, values).map(({ sql }) => sql),
      `toUInt64(${read('integer', nth(args, values), printing)})`,
    ]),
})

export const windowOnlyFunctions: readonly Named[] = [
  ranking('row_number', INTEGER),
  ranking('rank', INTEGER),
  ranking('dense_rank', INTEGER, ['denseRank']),
  ranking('percent_rank', FLOAT, ['percentRank']),
  ranking('cume_dist', FLOAT),
  counted('ntile', INTEGER, 0),
  counted('nth_value', typeOfFirst, 1),
  ofFrame('first_value'),
  ofFrame('last_value'),
  neighbour('lag', 'lag'),
  neighbour('lagInFrame', 'lag'),
  neighbour('lead', 'lead'),
  neighbour('leadInFrame', 'lead'),
]
