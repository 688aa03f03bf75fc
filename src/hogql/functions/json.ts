// Reading JSON text. What is missing, of another type or no JSON at all gives ClickHouse's defaults: '', 0, false, [].
import { jsonPath } from '../../platform/event-store/duckdb/json-path.ts'
import { queryError } from '../errors.ts'
import { partOf, sizeOf } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { areCertain } from './certainty.ts'
import {
  arrayOf,
  BOOLEAN,
  call,
  constantText,
  define,
  FLOAT,
  INTEGER,
  type Named,
  nth,
  once,
  read,
  TEXT,
  UUID,
} from './define.ts'
import { writtenJson } from './written.ts'

/** The path as one text, bound when all keys are constants; else put together row by row as a JSON pointer. */
const pathTo = (keys: readonly Value[], printing: Printing): string => {
  const constants = keys.map(({ constant }) => constant)
  const isKey = (key: unknown): key is string | number => typeof key === 'string' || Number.isSafeInteger(key)
  // There is no item 0. A pointer with a negative number finds nothing.
  if (constants.includes(0)) return printing.bind('/-1')
  if (constants.every(isKey)) return printing.bind(jsonPath(constants))
  const steps = keys.map((key) =>
    key.type.kind === 'integer'
      ? `'/' || (${key.sql} - 1)`
      : `'/' || replace(replace(${printing.text(key)}, '~', '~0'), '/', '~1')`,
  )
  return `(${steps.join(' || ')})`
}

type Extract = (json: string, path: string) => string

/** NULL stays NULL: only what was looked into can lack something. Whole properties are never NULL. */
const extracted = (args: readonly Value[], printing: Printing, extract: Extract): string => {
  const [json, ...keys] = args
  if (!json) throw queryError('An argument is missing.')
  if (json.type.kind === 'json') return extract(json.sql, pathTo(keys, printing))
  const text = printing.text(json)
  const isWritten = keys.every((key) => key.constant !== undefined)
  if (isWritten)
    return once([text], (it) => whenThere(it, extract(`try_cast(${it} as json)`, pathTo(keys, printing))))
  return once([text, pathTo(keys, printing)], (it, path) =>
    whenThere(it, extract(`try_cast(${it} as json)`, path)),
  )
}
const whenThere = (it: string, sql: string) => `case when ${it} is not null then ${sql} end`

const toClickhouse = (name: string, args: readonly Value[], printing: Printing): string =>
  call(name, [
    read('json', nth(args, 0), printing),
    ...args.slice(1).map((key) => (key.type.kind === 'integer' ? key.sql : printing.text(key))),
  ])

const json = (name: string, type: Type, extract: Extract): Named => ({
  name,
  args: [1, Infinity],
  type,
  estimate: ([from]) => partOf(from),
  duckdb: (args, printing) => extracted(args, printing, extract),
  clickhouse: (args, printing) => toClickhouse(name, args, printing),
})

const asText: Extract = (value, path) => `json_extract_string(${value}, ${path})`
/** Fractions are cut off. */
const asWhole =
  (duckdb_type: string): Extract =>
  (value, path) =>
    once(
      [asText(value, path)],
      (text) =>
        `coalesce(try_cast(nullif(regexp_extract(${text}, '^[+-]?\\d+$'), '') as ${duckdb_type}),` +
        ` try_cast(trunc(try_cast(${text} as double)) as ${duckdb_type}))`,
    )
const asFloat: Extract = (value, path) => `try_cast(${asText(value, path)} as double)`
/** Whole numbers other than 0 are true; a text never is. */
const asBoolean: Extract = (value, path) =>
  once(
    [`json_extract(${value}, ${path})`],
    (it) =>
      `case json_type(${it}) when 'BOOLEAN' then cast(${it} as varchar) = 'true'` +
      ` when 'BIGINT' then cast(${it} as varchar) <> '0' when 'UBIGINT' then cast(${it} as varchar) <> '0' end`,
  )

const orElse =
  (extract: Extract, fallback: string): Extract =>
  (value, path) =>
    `coalesce(${extract(value, path)}, ${fallback})`

const TYPE_NAMES = [
  ['VARCHAR', 'String'],
  ['BIGINT', 'Int64'],
  ['UBIGINT', 'Int64'],
  ['DOUBLE', 'Double'],
  ['BOOLEAN', 'Bool'],
  ['ARRAY', 'Array'],
  ['OBJECT', 'Object'],
] as const
const typeName: Extract = (value, path) => {
  const whens = TYPE_NAMES.map(([duckdb, clickhouse]) => `when '${duckdb}' then '${clickhouse}'`)
  return `case json_type(${value}, ${path}) ${whens.join(' ')} else 'Null' end`
}

const size: Extract = (value, path) =>
  once(
    [`json_extract(${value}, ${path})`],
    (it) =>
      `case json_type(${it}) when 'ARRAY' then cast(json_array_length(${it}) as bigint)` +
      ` when 'OBJECT' then len(json_keys(${it})) else 0 end`,
  )

/** true is 1 here, while JSONExtractInt takes no notice of it. */
const orBit =
  (extract: Extract): Extract =>
  (value, path) =>
    `case when json_type(${value}, ${path}) = 'BOOLEAN' then cast(${asText(value, path)} = 'true' as integer)` +
    ` else ${extract(value, path)} end`

type Target = { type: Type; clickhouse: string; extract: Extract; fallback: string; structure: string }

const whole = (clickhouse: string, structure: string): Target => ({
  type: INTEGER,
  clickhouse,
  extract: orBit(asWhole(structure.toLowerCase())),
  fallback: '0',
  structure: `"${structure}"`,
})
const float = (clickhouse: string): Target => ({
  type: FLOAT,
  clickhouse,
  extract: asFloat,
  fallback: '0',
  structure: '"DOUBLE"',
})
const SCALARS: ReadonlyMap<string, Target> = new Map(
  [
    { type: TEXT, clickhouse: 'String', extract: asText, fallback: `''`, structure: '"VARCHAR"' },
    { type: BOOLEAN, clickhouse: 'Bool', extract: asBoolean, fallback: 'false', structure: '"BOOLEAN"' },
    {
      type: UUID,
      clickhouse: 'UUID',
      extract: ((value, path) => `try_cast(${asText(value, path)} as uuid)`) satisfies Extract,
      fallback: `cast('00000000-0000-0000-0000-000000000000' as uuid)`,
      structure: '"UUID"',
    },
    ...['Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32'].map((name) => whole(name, 'BIGINT')),
    whole('UInt64', 'UBIGINT'),
    float('Float32'),
    float('Float64'),
  ].map((target) => [target.clickhouse, target]),
)

const MOST_NESTING = 5

/** The type that the last argument of JSONExtract names: one of SCALARS, Nullable of it, or arrays of those. */
const targetNamed = (name: string, depth = 0): Target => {
  const [, outer, inner] = /^(Nullable|LowCardinality|Array)\((.*)\)$/s.exec(name.trim()) ?? []
  if (outer === undefined || inner === undefined || depth > MOST_NESTING) {
    const target = SCALARS.get(name.trim())
    if (!target)
      throw queryError('JSONExtract reads String, Bool, UUID, Int…, UInt…, Float… and arrays of those.')
    return target
  }
  const target = targetNamed(inner, depth + 1)
  if (outer === 'LowCardinality') return target
  if (outer === 'Nullable')
    return { ...target, clickhouse: `Nullable(${target.clickhouse})`, fallback: 'null' }
  const structure = `[${target.structure}]`
  return {
    type: arrayOf(target.type),
    clickhouse: `Array(${target.clickhouse})`,
    extract: (value, path) => `from_json(json_extract(${value}, ${path}), '${structure}')`,
    fallback: '[]',
    structure,
  }
}

const namedTarget = (args: readonly Value[]) =>
  targetNamed(constantText(args.at(-1), 'The type in JSONExtract'))

const jsonExtract: Named = {
  name: 'JSONExtract',
  args: [2, Infinity],
  type: (args) => namedTarget(args).type,
  estimate: ([from]) => partOf(from),
  duckdb: (args, printing) => {
    const { extract, fallback } = namedTarget(args)
    return extracted(args.slice(0, -1), printing, orElse(extract, fallback))
  },
  clickhouse: (args, printing) =>
    `${toClickhouse('JSONExtract', args.slice(0, -1), printing).slice(0, -1)}, '${namedTarget(args).clickhouse}')`,
}

export const jsonFunctions: readonly Named[] = [
  json('JSONExtractString', TEXT, orElse(asText, `''`)),
  json(
    'JSONExtractRaw',
    TEXT,
    orElse((value, path) => `cast(json_extract(${value}, ${path}) as varchar)`, `''`),
  ),
  json('JSONExtractInt', INTEGER, orElse(asWhole('bigint'), '0')),
  json('JSONExtractUInt', INTEGER, orElse(asWhole('ubigint'), '0')),
  json('JSONExtractFloat', FLOAT, orElse(asFloat, '0')),
  json('JSONExtractBool', BOOLEAN, orElse(asBoolean, 'false')),
  json(
    'JSONExtractArrayRaw',
    arrayOf(TEXT),
    orElse((value, path) => `cast(json_extract(json_extract(${value}, ${path}), '$[*]') as varchar[])`, '[]'),
  ),
  json(
    'JSONExtractKeys',
    arrayOf(TEXT),
    orElse((value, path) => `json_keys(${value}, ${path})`, '[]'),
  ),
  {
    ...json(
      'JSONExtractKeysAndValuesRaw',
      arrayOf({ kind: 'tuple', items: [TEXT, TEXT] }),
      orElse(
        (value, path) =>
          once(
            [`json_extract(${value}, ${path})`],
            (object) =>
              `case when json_type(${object}) = 'OBJECT' then list_transform(json_keys(${object}), lambda key:` +
              ` {'_1': key, '_2': cast(json_extract(${object}, '/' || replace(replace(key, '~', '~0'), '/', '~1')) as varchar)}) end`,
          ),
        '[]',
      ),
    ),
  },
  jsonExtract,
  json(
    'JSONHas',
    BOOLEAN,
    orElse((value, path) => `json_exists(${value}, ${path})`, 'false'),
  ),
  json('JSONLength', INTEGER, orElse(size, '0')),
  json('JSONType', TEXT, typeName),
  define('isValidJSON', ['text'], BOOLEAN, (text) => `json_valid(${text})`),
  {
    name: 'toJSONString',
    args: [1, 1],
    type: TEXT,
    certain: areCertain,
    // Quotes and backslashes get a backslash each: within each other, they double every time.
    estimate: ([value]) => 2 * sizeOf(value?.estimate),
    duckdb: (args, printing) => writtenJson(nth(args, 0).sql, nth(args, 0).type, printing),
    clickhouse: (args, printing) => {
      const value = nth(args, 0)
      return call('toJSONString', [value.type.kind === 'datetime' ? printing.local(value) : value.sql])
    },
  },
]
