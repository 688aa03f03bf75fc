// The tables and columns users can name. What is not in here does not exist for them.
import type { Expr } from '../ast.ts'
import type { QueryContext } from '../compile.ts'
import type { Dialect, PhysicalTable } from '../engines/dialect.ts'
import type { Type } from '../value.ts'
import type { Sample, Source } from './scope.ts'

export type TableName =
  | 'events'
  | 'positioned_events'
  | 'exported_events'
  | 'persons'
  | 'person_distinct_ids'
  | 'groups'

export type Column =
  /** Stored in the table under this name. */
  | { column: string; type: Type }
  /** Comes from a table that is joined when it is asked for. */
  | { joined: string; type: Type }
  /** Computed from other columns of the table; of the type that comes out unless told. */
  | { derived: Expr; type?: Type }
  /** The id of the project, which no table holds. */
  | { is_project_id: true }

type Table = {
  physical: PhysicalTable
  columns: ReadonlyMap<string, Column>
  /** What `*` stands for. */
  star: readonly string[]
}

const GROUP_INDEXES = [0, 1, 2, 3, 4] as const

const text: Type = { kind: 'text' }
const uuid: Type = { kind: 'uuid' }
const json: Type = { kind: 'json' }
const datetime: Type = { kind: 'datetime' }
const boolean: Type = { kind: 'boolean' }

const stored = (types: Record<string, Type>): [string, Column][] =>
  Object.entries(types).map(([column, type]) => [column, { column, type }])

const field = (...chain: string[]): Expr => ({ node: 'Field', chain })
const call = (name: string, ...args: Expr[]): Expr => ({ node: 'Call', name, args })
/** The value of an attribute in the chain; quotes inside it are escaped with a backslash. */
const attribute = (name: string): Expr => ({
  node: 'Constant',
  value: String.raw`[:"]${name}="((?:[^"\\]|\\.)*)"`,
})
const attributes = (name: string): Expr =>
  call('arrayDistinct', call('extractAll', field('elements_chain'), attribute(name)))

const EVENT_COLUMNS = {
  uuid,
  event: text,
  properties: json,
  timestamp: datetime,
  distinct_id: text,
  elements_chain: text,
  created_at: datetime,
}

const events: Table = {
  physical: 'events',
  star: Object.keys(EVENT_COLUMNS),
  columns: new Map<string, Column>([
    ...stored(EVENT_COLUMNS),
    ['person_id', { joined: 'current_person_id', type: uuid }],
    ['person', { joined: 'person', type: json }],
    ['person.id', { joined: 'person_key', type: uuid }],
    ['person.created_at', { joined: 'person_created_at', type: datetime }],
    ['person.properties', { joined: 'current_person_properties', type: json }],
    ['person.is_identified', { joined: 'person_is_identified', type: boolean }],
    ['$session_id', { column: 'p_session_id', type: text }],
    ['$window_id', { derived: field('properties', '$window_id') }],
    ...GROUP_INDEXES.flatMap((index): [string, Column][] => [
      [`$group_${index}`, { column: `p_group_${index}`, type: text }],
      [`group_${index}.key`, { joined: `group_${index}_key`, type: text }],
      [`group_${index}.properties`, { joined: `group_${index}_properties`, type: json }],
    ]),
    ['elements_chain_href', { derived: call('extract', field('elements_chain'), attribute('href')) }],
    ['elements_chain_texts', { derived: attributes('text') }],
    ['elements_chain_ids', { derived: attributes('attr_id') }],
  ]),
}

/** The same for whoever reads them as they arrive. */
const positionedEvents: Table = {
  ...events,
  columns: new Map([...events.columns, ...stored({ seq: { kind: 'integer' } })]),
}

const constant = (value: string | null): Expr => ({ node: 'Constant', value })

/**
 * The JSON at a key of the properties, NULL when there is none. Few events have it, and looking for its beginning in the
 * text first costs a tenth of reading all of the JSON. The same beginning for both, so that the engine looks once; and not
 * with the quote before it, which it would find a hundred times over.
 */
const partOfProperties = (key: '$set' | '$set_once'): Column => ({
  derived: call(
    'if',
    call('position', field('properties'), constant('$set')),
    call('nullIf', call('JSONExtractRaw', field('properties'), constant(key)), constant('')),
    constant(null),
  ),
  type: json,
})

/** What `*` stands for in exports. */
export const EXPORTABLE_FIELDS = [
  'uuid',
  'event',
  'timestamp',
  'created_at',
  'distinct_id',
  'person_id',
  'team_id',
  'elements_chain',
  'properties',
  'person_properties',
] as const

/** What exports can hand on: all of it lies on the event itself, so that it is the same whenever it is read. */
const exportedEvents: Table = {
  physical: 'events',
  star: EXPORTABLE_FIELDS,
  columns: new Map<string, Column>([
    ...stored(EVENT_COLUMNS),
    ...stored({ seq: { kind: 'integer' }, person_id: uuid, person_properties: json }),
    ['person.properties', { column: 'person_properties', type: json }],
    ['_inserted_at', { column: 'inserted_at', type: datetime }],
    ['team_id', { is_project_id: true }],
    ['set', partOfProperties('$set')],
    ['set_once', partOfProperties('$set_once')],
  ]),
}

const plainTable = (physical: PhysicalTable, types: Record<string, Type>): Table => ({
  physical,
  star: Object.keys(types),
  columns: new Map(stored(types)),
})

export const TABLES: Readonly<Record<TableName, Table>> = {
  events,
  positioned_events: positionedEvents,
  exported_events: exportedEvents,
  persons: plainTable('persons', {
    id: uuid,
    created_at: datetime,
    properties: json,
    is_identified: boolean,
  }),
  person_distinct_ids: plainTable('distinct_ids', { distinct_id: text, person_id: uuid }),
  groups: plainTable('groups', {
    index: { kind: 'integer' },
    key: text,
    created_at: datetime,
    properties: json,
  }),
}

const NAMED: ReadonlyMap<string, TableName> = new Map(
  (['events', 'persons', 'person_distinct_ids', 'groups'] as const).map((name) => [name, name]),
)
const NAMED_BY_POSITION: ReadonlyMap<string, TableName> = new Map([...NAMED, ['events', 'positioned_events']])
const NAMED_IN_EXPORTS: ReadonlyMap<string, TableName> = new Map([['events', 'exported_events']])

/** The tables that a query can name. */
export const namedTables = ({ exported, by_position }: QueryContext) => {
  if (exported) return NAMED_IN_EXPORTS
  return by_position ? NAMED_BY_POSITION : NAMED
}

type Joined = { from: readonly ('ids' | 'person' | 'ids_of_person' | `group_${number}`)[]; sql: () => string }

/** `e` is the event, `d` its distinct id, `p` the person, `i` the person's ids, `g0` … `g4` its groups. */
function joinedColumns(dialect: Dialect): ReadonlyMap<string, Joined> {
  // An event that asked for no profile has no person, even when its distinct id has got one by other events.
  const ofPerson = (sql: string) => `CASE WHEN e.person_mode = 0 THEN ${sql} END`
  const person = () =>
    dialect.personObject({
      id: 'p.id',
      created_at: 'p.created_at',
      properties: 'p.properties',
      distinct_ids: 'i.ids',
    })
  const ofPersonCopy = (column: string): Joined => ({
    from: ['ids', 'person'],
    sql: () => ofPerson(`p.${column}`),
  })
  const personId = () => `coalesce(${ofPerson('d.person_id')}, ${dialect.personlessId('e.distinct_id')})`
  return new Map<string, Joined>([
    // "Current", because events also carry the person they were stored with.
    ['current_person_id', { from: ['ids'], sql: personId }],
    [
      'person',
      {
        from: ['ids', 'person', 'ids_of_person'],
        sql: () => `CASE WHEN e.person_mode = 0 AND p.id IS NOT NULL THEN ${person()} END`,
      },
    ],
    ['person_key', { from: ['ids', 'person'], sql: () => ofPerson('p.id') }],
    ['person_created_at', ofPersonCopy('created_at')],
    ['current_person_properties', ofPersonCopy('properties')],
    ['person_is_identified', ofPersonCopy('is_identified')],
    ...GROUP_INDEXES.flatMap((index) =>
      ['key', 'properties'].map((name): [string, Joined] => [
        `group_${index}_${name}`,
        { from: [`group_${index}`], sql: () => `g${index}.${name}` },
      ]),
    ),
  ])
}

/**
 * What stands in FROM for a table. Joins keep the number of rows: distinct ids, persons and (index, key) of groups are
 * unique in their tables.
 */
export function tableSql(
  { table, joined, asked, sample }: Extract<Source['from'], { table: TableName }>,
  dialect: Dialect,
): string {
  const physical = (asked.isUsed && dialect.asked_events) || dialect.table(TABLES[table].physical)
  const condition = sample ? ` WHERE ${sampleSql(sample, dialect)}` : ''
  if (joined.size === 0) return sample ? `(SELECT e.* FROM ${physical} AS e${condition})` : physical
  const columns = joinedColumns(dialect)
  const chosen = [...columns].filter(([column]) => joined.has(column))
  const needed = new Set<string>(chosen.flatMap(([, { from }]) => from))
  const joins = [
    ['ids', () => `${dialect.table('distinct_ids')} AS d ON d.distinct_id = e.distinct_id`],
    ['person', () => `${dialect.table('persons')} AS p ON p.id = d.person_id`],
    [
      'ids_of_person',
      () => `${dialect.idsByPerson(dialect.table('distinct_ids'))} AS i ON i.person_id = p.id`,
    ],
    ...GROUP_INDEXES.map((index) => [
      `group_${index}`,
      () =>
        `${dialect.table('groups')} AS g${index} ON g${index}.index = ${index} AND g${index}.key = e.p_group_${index}`,
    ]),
  ] as [string, () => string][]
  const wanted = joins.filter(([join]) => needed.has(join)).map(([, sql]) => ` LEFT JOIN ${sql()}`)
  const list = chosen.map(([column, { sql }]) => `${sql()} AS ${column}`).join(', ')
  return `(SELECT e.*, ${list} FROM ${physical} AS e${wanted.join('')}${condition})`
}

/** By distinct id, so that all events of one are in or none. */
function sampleSql({ from, to }: Sample, dialect: Dialect): string {
  const share = dialect.shareOf('e.distinct_id')
  return `${share} >= ${dialect.bind(from)} AND ${share} < ${dialect.bind(to)}`
}
