// ClickHouse's spelling, written against the tables of platform/event-store/clickhouse: their columns are those of layout.ts,
// texts that may be absent as Nullable(String), times as DateTime64(6, 'UTC'). The session has join_use_nulls = 1 and
// group_by_use_nulls = 1, so that what an outer join does not find, and what a grouping leaves out, is NULL; and
// allow_experimental_correlated_subqueries = 1. An instant keeps its zone with it: the wall clock of a zone is the same
// instant in that zone.
import {
  distinctIds,
  groups,
  livingPersons,
  VISIBLE_COLUMNS,
  visibleEvents,
} from '../../platform/event-store/clickhouse/visible-sql.ts'
import type { Value } from '../value.ts'
import type { Dialect, Engine, PhysicalTable, QuerySetting } from './dialect.ts'
import { PERSON_NAMESPACE, uuid5OfHash } from './personless-id.ts'

const TABLES: Readonly<Record<PhysicalTable, (project: string) => string>> = {
  events: visibleEvents,
  persons: livingPersons,
  distinct_ids: distinctIds,
  groups,
}

const isText = ({ type: { kind } }: Value) => kind === 'text' || kind === 'property' || kind === 'json'
const isNumber = ({ type: { kind } }: Value) => kind === 'integer' || kind === 'float'

function conversions({ timezone, bind }: QuerySetting) {
  const inZone = (sql: string) => (timezone === 'UTC' ? sql : `toTimeZone(${sql}, ${bind(timezone)})`)

  function datetime(value: Value): string {
    const { kind } = value.type
    if (kind === 'datetime' || kind === 'null') return value.sql
    if (kind === 'date') return `toDateTime64(${value.sql}, 6, ${bind(timezone)})`
    if (isNumber(value)) return `fromUnixTimestamp64Micro(toInt64(${value.sql} * 1000000))`
    return `parseDateTime64BestEffortOrNull(${isText(value) ? value.sql : `toString(${value.sql})`}, 6, ${bind(timezone)})`
  }
  // A value that was brought into a zone stays in it.
  const local = (value: Value) => (value.sql.startsWith('toTimeZone(') ? value.sql : inZone(datetime(value)))

  return {
    datetime,
    local,
    fromLocal: (sql: string) => sql,
    date: (value: Value) => (value.type.kind === 'date' ? value.sql : `toDate(${local(value)})`),
    number(value: Value) {
      const { kind } = value.type
      if (isNumber(value) || kind === 'null') return value.sql
      if (kind === 'boolean') return `toInt64(${value.sql})`
      if (kind === 'datetime' || kind === 'date') return `toUnixTimestamp(${value.sql})`
      return `toFloat64OrNull(${isText(value) ? value.sql : `toString(${value.sql})`})`
    },
    text(value: Value) {
      const { kind } = value.type
      if (isText(value) || kind === 'null') return value.sql
      if (kind === 'datetime') return `toString(${local(value)})`
      return kind === 'array' || kind === 'tuple' ? `toJSONString(${value.sql})` : `toString(${value.sql})`
    },
    boolean(value: Value) {
      const { kind } = value.type
      if (kind === 'boolean' || kind === 'null') return value.sql
      if (isNumber(value)) return `(${value.sql} <> 0)`
      const text = `lower(${isText(value) ? value.sql : `toString(${value.sql})`})`
      return `multiIf(${text} IN ('true', '1'), true, ${text} IN ('false', '0'), false, NULL)`
    },
    uuid(value: Value) {
      if (value.type.kind === 'uuid' || value.type.kind === 'null') return value.sql
      return `toUUIDOrNull(${isText(value) ? value.sql : `toString(${value.sql})`})`
    },
  }
}

/** JSONExtractString knows strings only; everything else is its own JSON text. */
function propertySql(json: string, keys: string): string {
  const raw = `nullIf(nullIf(JSONExtractRaw(${json}, ${keys}), ''), 'null')`
  return `if(JSONType(${json}, ${keys}) = 'String', JSONExtractString(${json}, ${keys}), ${raw})`
}

function dialect(setting: QuerySetting): Dialect {
  const { project_id, bind } = setting
  return {
    engine: 'clickhouse',
    timezone: setting.timezone,
    now: setting.now,
    bind,
    ...conversions(setting),
    // A star would rename columns that another table has as well.
    everyColumn: (name, alias) =>
      VISIBLE_COLUMNS[name].map((column) => `${alias}.${column} AS ${column}`).join(', '),
    asked_events: null,
    table: (name) => TABLES[name](bind(project_id)),
    property: (json, path) => propertySql(json, path.map(bind).join(', ')),
    asJson: ({ sql }) => sql,
    propertyNamed: propertySql,
    same: (left, right) => `ifNull(${left} = ${right}, isNull(${left}) AND isNull(${right}))`,
    array: (items) => `[${items.join(', ')}]`,
    tuple: (items) => `tuple(${items.join(', ')})`,
    item: (array, index) => `arrayElement(${array}, ${index})`,
    part: (tuple, index) => `tupleElement(${tuple}, ${index})`,
    slice: (array, start, end) =>
      `arraySlice(${array}, ${start ?? 1}${end === null ? '' : `, ${end} - ${start ?? 1} + 1`})`,
    contains: (array, item) => `has(${array}, ${item})`,
    like: (text, pattern, ignore_case) => `(${text} ${ignore_case ? 'ILIKE' : 'LIKE'} ${pattern})`,
    matches: (text, pattern, ignore_case) =>
      `match(${text}, ${ignore_case ? `concat('(?i)', ${pattern})` : pattern})`,
    shiftSeconds: (datetime, sign, seconds) => `(${datetime} ${sign} toIntervalSecond(${seconds}))`,
    shiftDays: (date, sign, days) => `(${date} ${sign} toIntervalDay(${days}))`,
    secondsBetween: (later, earlier) => `dateDiff('second', ${earlier}, ${later})`,
    personlessId: (distinct_id) => {
      const name = `concat(unhex('${PERSON_NAMESPACE.replaceAll('-', '')}'), ${bind(`${project_id}:`)}, ${distinct_id})`
      return `toUUID(${uuid5OfHash(`lower(hex(SHA1(${name})))`, 'substring', 'position')})`
    },
    personObject: ({ id, created_at, properties, distinct_ids }) =>
      `concat('{"id":"', toString(${id}), '","created_at":"', formatDateTime(${created_at}, '%Y-%m-%dT%H:%i:%S.%fZ'),` +
      ` '","properties":', ${properties}, ',"distinct_ids":', toJSONString(${distinct_ids}), '}')`,
    idsByPerson: (distinct_ids) =>
      `(SELECT person_id, arraySort(groupArray(distinct_id)) AS ids FROM ${distinct_ids} GROUP BY person_id)`,
    unfold: (_alias, arrays, keep_empty) =>
      `${keep_empty ? ' LEFT' : ''} ARRAY JOIN ${arrays.map(({ column, sql }) => `${sql} AS ${column}`).join(', ')}`,
    unfolded: (_alias, column) => column,
    numbers: (start, count, most) =>
      `(SELECT ${start} + toInt64(number) AS number FROM numbers(toUInt64(ifNull(greatest(0, least(${count}, ${most})), 0)))` +
      ` WHERE throwIf(${count} > ${most}, 'More than ${most} rows would be made') = 0)`,
    shareOf: (text) => `(reinterpretAsUInt32(reverse(substring(MD5(${text}), 1, 4))) / 4294967296)`,
    has_limit_by: true,
    // It has no such words.
    made_once: '',
    set_operators: {
      'UNION ALL': 'UNION ALL',
      'UNION DISTINCT': 'UNION DISTINCT',
      INTERSECT: 'INTERSECT DISTINCT',
      'INTERSECT DISTINCT': 'INTERSECT DISTINCT',
      EXCEPT: 'EXCEPT DISTINCT',
    },
  }
}

export const clickhouse: Engine = {
  dialect,
  placeholder: (number, value) => {
    if (typeof value === 'string') return `{p${number}:String}`
    if (typeof value === 'boolean') return `{p${number}:Bool}`
    if (typeof value === 'bigint') return `{p${number}:Int128}`
    return Number.isSafeInteger(value) ? `{p${number}:Int64}` : `{p${number}:Float64}`
  },
  placeholders: /\{p(\d+):\w+\}/g,
}
