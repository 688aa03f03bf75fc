// DuckDB's spelling. Tables are those of layout.ts, one set per project; times are TIMESTAMP in UTC, and the session's
// time zone is UTC.
import { jsonPath } from '../../platform/event-store/duckdb/json-path.ts'
import { tablesOf } from '../../platform/event-store/layout.ts'
import type { Value } from '../value.ts'
import type { Dialect, Engine, QuerySetting } from './dialect.ts'
import { floatText } from './float-text.ts'
import { PERSON_NAMESPACE, uuid5OfHash } from './personless-id.ts'

const isText = ({ type: { kind } }: Value) => kind === 'text' || kind === 'property' || kind === 'json'
const isNumber = ({ type: { kind } }: Value) => kind === 'integer' || kind === 'float'

const OFFSET = String.raw`:\d{2}(\.\d+)?\s*([zZ]|[+-]\d{2}(:?\d{2})?)$`
const UNIX_TIME = String.raw`\d{10}(\d{3})?`

/** How nearly all are written: the engine reads these by itself. */
const PLAIN = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/
/** What the engine does not read by itself, as ClickHouse understands it: the day comes before the month. */
const FORMATS = `[${[
  '%d/%m/%Y %H:%M:%S',
  '%d/%m/%Y',
  '%b %d, %Y',
  '%b %d, %Y %H:%M:%S',
  '%d %b %Y %H:%M:%S',
  '%d %b %Y %H:%M',
  '%d %b %Y',
  '%Y%m%d',
  '%Y%m%d%H%M%S',
  '%Y-%m-%d %I:%M:%S %p',
]
  .map((format) => `'${format}'`)
  .join(', ')}]`
const GMT = `'%a, %d %b %Y %H:%M:%S GMT'`

function times({ timezone, bind }: QuerySetting) {
  const isUtc = timezone === 'UTC'
  const fromLocal = (sql: string) => (isUtc ? sql : `timezone('UTC', timezone(${bind(timezone)}, ${sql}))`)
  const withOffset = (text: string) => `timezone('UTC', try_cast(${text} AS TIMESTAMPTZ))`
  const plain = (text: string) => fromLocal(`try_cast(${text} AS TIMESTAMP)`)
  const withoutOffset = (text: string) =>
    `coalesce(${fromLocal(`coalesce(try_cast(${text} AS TIMESTAMP), try_strptime(${text}, ${FORMATS}))`)}, try_strptime(${text}, ${GMT}))`
  const unix = (text: string) =>
    `make_timestamp(try_cast(${text} AS BIGINT) * CASE WHEN length(${text}) = 10 THEN 1000000 ELSE 1000 END)`

  /** A constant is looked at here, so that its SQL stays short and is folded once. */
  function readTime(value: Value): string {
    const text = value.sql
    if (typeof value.constant === 'string') {
      if (new RegExp(`^${UNIX_TIME}$`).test(value.constant)) return unix(text)
      if (new RegExp(OFFSET).test(value.constant)) return withOffset(text)
      return PLAIN.test(value.constant) ? plain(text) : withoutOffset(text)
    }
    return (
      `(CASE WHEN regexp_full_match(${text}, '${UNIX_TIME}') THEN ${unix(text)}` +
      ` WHEN regexp_matches(${text}, '${OFFSET}') THEN ${withOffset(text)} ELSE ${withoutOffset(text)} END)`
    )
  }

  function datetime(value: Value): string {
    const { kind } = value.type
    if (kind === 'datetime' || kind === 'null') return value.sql
    if (kind === 'date') return fromLocal(`CAST(${value.sql} AS TIMESTAMP)`)
    if (isText(value)) return readTime(value)
    if (isNumber(value)) return `make_timestamp(CAST(${value.sql} * 1000000 AS BIGINT))`
    return `try_cast(CAST(${value.sql} AS VARCHAR) AS TIMESTAMP)`
  }

  const local = (value: Value) =>
    isUtc ? datetime(value) : `timezone(${bind(timezone)}, timezone('UTC', ${datetime(value)}))`

  return {
    datetime,
    local,
    fromLocal,
    date: (value: Value) => (value.type.kind === 'date' ? value.sql : `CAST(${local(value)} AS DATE)`),
  }
}

function conversions(setting: QuerySetting) {
  const { datetime, date, local, fromLocal } = times(setting)
  return {
    datetime,
    date,
    local,
    fromLocal,
    number(value: Value) {
      const { kind } = value.type
      if (isNumber(value) || kind === 'null') return value.sql
      if (kind === 'boolean') return `CAST(${value.sql} AS BIGINT)`
      if (kind === 'datetime' || kind === 'date') return `epoch(${value.sql})`
      return isText(value) || kind === 'unknown' ? `try_cast(${value.sql} AS DOUBLE)` : 'CAST(NULL AS DOUBLE)'
    },
    text(value: Value) {
      const { kind } = value.type
      if (isText(value) || kind === 'null') return value.sql
      if (kind === 'datetime') return `CAST(${local(value)} AS VARCHAR)`
      if (kind === 'float') return floatText(value.sql)
      if (kind === 'array' || kind === 'tuple') return `CAST(to_json(${value.sql}) AS VARCHAR)`
      return `CAST(${value.sql} AS VARCHAR)`
    },
    boolean(value: Value) {
      const { kind } = value.type
      if (kind === 'boolean' || kind === 'null') return value.sql
      if (isNumber(value)) return `(${value.sql} <> 0)`
      return isText(value)
        ? `(CASE lower(${value.sql}) WHEN 'true' THEN true WHEN 'false' THEN false WHEN '1' THEN true WHEN '0' THEN false END)`
        : `try_cast(CAST(${value.sql} AS VARCHAR) AS BOOLEAN)`
    },
    uuid(value: Value) {
      if (value.type.kind === 'uuid' || value.type.kind === 'null') return value.sql
      return isText(value)
        ? `try_cast(${value.sql} AS UUID)`
        : `try_cast(CAST(${value.sql} AS VARCHAR) AS UUID)`
    },
  }
}

function dialect(setting: QuerySetting): Dialect {
  const { project_id, bind } = setting
  const tables = tablesOf(project_id)
  return {
    engine: 'duckdb',
    timezone: setting.timezone,
    now: setting.now,
    bind,
    ...conversions(setting),
    table: (name) => tables[name],
    everyColumn: (_name, alias) => `${alias}.*`,
    // Whoever reads by position reads few events.
    asked_events: setting.by_position ? null : tables.asked,
    property: (json, path) => `json_extract_string(${json}, ${bind(jsonPath(path))})`,
    asJson: (value) =>
      value.type.kind === 'json' ? value.sql : `(CASE WHEN json_valid(${value.sql}) THEN ${value.sql} END)`,
    // A pointer, because a key in quotes would have to be escaped row by row for backslashes too.
    propertyNamed: (json, key) =>
      `json_extract_string(${json}, '/' || replace(replace(${key}, '~', '~0'), '/', '~1'))`,
    same: (left, right) => `(${left} IS NOT DISTINCT FROM ${right})`,
    array: (items) => `[${items.join(', ')}]`,
    // With names, because the parts of a nameless one overwrite each other on their way into JavaScript.
    tuple: (items) => `{${items.map((item, index) => `'_${index + 1}': ${item}`).join(', ')}}`,
    item: (array, index) => `(${array})[${index}]`,
    part: (tuple, index) => `struct_extract_at(${tuple}, ${index})`,
    slice: (array, start, end) => `(${array})[${start ?? ''}:${end ?? ''}]`,
    contains: (array, item) => `list_contains(${array}, ${item})`,
    like: (text, pattern, ignore_case) =>
      `(${text} ${ignore_case ? 'ILIKE' : 'LIKE'} ${pattern} ESCAPE '\\')`,
    matches: (text, pattern, ignore_case) =>
      `regexp_matches(${text}, ${pattern}${ignore_case ? `, 'i'` : ''})`,
    shiftSeconds: (datetime, sign, seconds) =>
      `(${datetime} ${sign} to_microseconds(CAST(${seconds} * 1000000 AS BIGINT)))`,
    shiftDays: (date, sign, days) => `(${date} ${sign} CAST(${days} AS INTEGER))`,
    secondsBetween: (later, earlier) => `date_diff('second', ${earlier}, ${later})`,
    personlessId: (distinct_id) => {
      const name = `encode(${bind(`${project_id}:`)} || ${distinct_id})`
      const hash = `sha1(unhex('${PERSON_NAMESPACE.replaceAll('-', '')}') || ${name})`
      return `CAST(${uuid5OfHash(hash, 'substr', 'instr')} AS UUID)`
    },
    personObject: ({ id, created_at, properties, distinct_ids }) =>
      `CAST(json_object('id', ${id}, 'created_at', strftime(${created_at}, '%Y-%m-%dT%H:%M:%S.%fZ'),` +
      ` 'properties', CAST(${properties} AS JSON), 'distinct_ids', ${distinct_ids}) AS VARCHAR)`,
    idsByPerson: (distinct_ids) =>
      `(SELECT person_id, list(distinct_id ORDER BY distinct_id) AS ids FROM ${distinct_ids} GROUP BY person_id)`,
    unfold: (alias, arrays, keep_empty) => {
      const items = arrays.map(({ column, sql }) => `unnest(${sql}) AS ${column}`).join(', ')
      const join = keep_empty ? 'LEFT JOIN' : 'CROSS JOIN'
      return ` ${join} LATERAL (SELECT ${items}) AS ${alias}${keep_empty ? ' ON true' : ''}`
    },
    unfolded: (alias, column) => `${alias}.${column}`,
    numbers: (start, count, most) =>
      `(SELECT ${start} + range AS number FROM range(0, CASE WHEN ${count} > ${most}` +
      ` THEN error('More than ${most} rows would be made') ELSE ${count} END))`,
    shareOf: (text) => `(CAST('0x' || substr(md5(${text}), 1, 8) AS BIGINT) / 4294967296)`,
    has_limit_by: false,
    // Otherwise the engine copies the query to each place, and the bound values in the copies become NULL (1.5.5); of
    // queries that use each other twice, thirty make a plan without end.
    made_once: 'MATERIALIZED ',
    set_operators: {
      'UNION ALL': 'UNION ALL',
      'UNION DISTINCT': 'UNION',
      INTERSECT: 'INTERSECT',
      'INTERSECT DISTINCT': 'INTERSECT',
      EXCEPT: 'EXCEPT',
    },
  }
}

export const duckdb: Engine = {
  dialect,
  // With its type, so that it does not hang on how the value was bound.
  placeholder: (number, value) => {
    if (typeof value === 'string') return `$${number}::VARCHAR`
    if (typeof value === 'boolean') return `$${number}::BOOLEAN`
    if (typeof value === 'bigint') return `$${number}::HUGEINT`
    return Number.isSafeInteger(value) ? `$${number}::BIGINT` : `$${number}::DOUBLE`
  },
  placeholders: /\$(\d+)::[A-Z]+/g,
}
