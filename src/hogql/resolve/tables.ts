// The tables and columns users can name. What is not in here does not exist for them.
import type { Expr } from '../ast.ts'
import type { QueryContext } from '../compile.ts'
import type { PhysicalTable } from '../engines/dialect.ts'
import type { Type } from '../value.ts'
import { SESSION_COLUMNS } from './views.ts'

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
  /** The same for a column of the event's session. */
  | { session: string; type: Type }
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

export const GROUP_INDEXES = [0, 1, 2, 3, 4] as const

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

/** Columns of the person whom a distinct id belongs to. */
const personOfId = (object: string): [string, Column][] => [
  [`${object}.id`, { joined: 'id_person_key', type: uuid }],
  [`${object}.created_at`, { joined: 'id_person_created_at', type: datetime }],
  [`${object}.properties`, { joined: 'id_person_properties', type: json }],
  [`${object}.is_identified`, { joined: 'id_person_is_identified', type: boolean }],
]

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
    // Whoever the distinct id belongs to, also where the event itself asked for no person.
    ['pdi.distinct_id', { column: 'distinct_id', type: text }],
    ['pdi.person_id', { joined: 'id_person_id', type: uuid }],
    ...personOfId('pdi.person'),
    ['$session_id', { column: 'p_session_id', type: text }],
    ['$window_id', { derived: field('properties', '$window_id') }],
    ...GROUP_INDEXES.flatMap((index): [string, Column][] => [
      [`$group_${index}`, { column: `p_group_${index}`, type: text }],
      [`group_${index}.key`, { joined: `group_${index}_key`, type: text }],
      [`group_${index}.created_at`, { joined: `group_${index}_created_at`, type: datetime }],
      [`group_${index}.properties`, { joined: `group_${index}_properties`, type: json }],
    ]),
    ...[...SESSION_COLUMNS].map(([name, { type }]): [string, Column] => [
      `session.${name}`,
      { session: name, type },
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

const plainTable = (
  physical: PhysicalTable,
  types: Record<string, Type>,
  more: [string, Column][] = [],
): Table => ({
  physical,
  star: Object.keys(types),
  columns: new Map([...stored(types), ...more]),
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
  person_distinct_ids: plainTable(
    'distinct_ids',
    { distinct_id: text, person_id: uuid },
    personOfId('person'),
  ),
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
