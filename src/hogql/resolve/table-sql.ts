// What stands in FROM for a table: with what is joined because columns of it are asked for, and with what a sample leaves.
import type { Dialect, PhysicalTable } from '../engines/dialect.ts'
import type { Compilation, Sample, Source } from './scope.ts'
import { GROUP_INDEXES, TABLES, type TableName } from './tables.ts'
import { sessionsWith } from './views.ts'

type Join = 'ids' | 'person' | 'ids_of_person' | `group_${number}`
/** `column` is one of the table that was joined last, for JSON that is read property by property. */
type Joined = { from: readonly Join[]; sql: (column?: string) => string }

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
    sql: (read = column) => ofPerson(`p.${read}`),
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
    ['id_person_id', { from: ['ids'], sql: () => 'd.person_id' }],
    ['id_person_key', { from: ['ids', 'person'], sql: () => 'p.id' }],
    ...['created_at', 'properties', 'is_identified'].map((name): [string, Joined] => [
      `id_person_${name}`,
      { from: ['ids', 'person'], sql: (read = name) => `p.${read}` },
    ]),
    ...GROUP_INDEXES.flatMap((index) =>
      ['key', 'created_at', 'properties'].map((name): [string, Joined] => [
        `group_${index}_${name}`,
        { from: [`group_${index}`], sql: (read = name) => `g${index}.${read}` },
      ]),
    ),
  ])
}

/** Whether a joined column is JSON whose properties can be read before the join. */
export const mayBeRead = (joined: string) => joined.endsWith('_properties')

/**
 * What stands in FROM for a table. Joins keep the number of rows: distinct ids, persons and (index, key) of groups are
 * unique in their tables.
 */
export function tableSql(
  { table, joined, asked, sample, session, read }: Extract<Source['from'], { table: TableName }>,
  { dialect, view }: Compilation,
): string {
  const physical = (asked.isUsed && dialect.asked_events) || dialect.table(TABLES[table].physical)
  const condition = sample ? ` WHERE ${sampleSql(sample, dialect)}` : ''
  if (joined.size + session.size === 0)
    return sample ? `(SELECT e.* FROM ${physical} AS e${condition})` : physical
  const columns = joinedColumns(dialect)
  const chosen = [...columns].filter(([column]) => joined.has(column))
  const needed = new Set<string>(chosen.flatMap(([, { from }]) => from))
  const properties = [...read].map(([column, { joined: of, key }]) => ({ column, key, ...columns.get(of)! }))
  /** With the properties that are read of each of its rows. */
  const reading = (join: Join, physical: PhysicalTable) => {
    const own = properties.filter(({ from }) => from.at(-1) === join)
    if (own.length === 0) return dialect.table(physical)
    const list = own.map(({ column, key }) => `${dialect.property('properties', [key])} AS ${column}`)
    return `(SELECT *, ${list.join(', ')} FROM ${dialect.table(physical)})`
  }
  const joins = [
    ['ids', () => `${dialect.table('distinct_ids')} AS d ON d.distinct_id = e.distinct_id`],
    ['person', () => `${reading('person', 'persons')} AS p ON p.id = d.person_id`],
    [
      'ids_of_person',
      () => `${dialect.idsByPerson(dialect.table('distinct_ids'))} AS i ON i.person_id = p.id`,
    ],
    ...GROUP_INDEXES.map((index) => [
      `group_${index}`,
      () =>
        `${reading(`group_${index}`, 'groups')} AS g${index} ON g${index}.index = ${index} AND g${index}.key = e.p_group_${index}`,
    ]),
  ] as [string, () => string][]
  const wanted = joins.filter(([join]) => needed.has(join)).map(([, sql]) => ` LEFT JOIN ${sql()}`)
  const ofSession = session.size > 0 ? sessionJoin(session, view) : { join: '', list: [] }
  const list = [
    ...chosen.map(([column, { sql }]) => `${sql()} AS ${column}`),
    ...properties.map(({ column, sql }) => `${sql(column)} AS ${column}`),
    ...ofSession.list,
  ]
  const every = dialect.everyColumn(TABLES[table].physical, 'e')
  return `(SELECT ${every}, ${list.join(', ')} FROM ${physical} AS e${wanted.join('')}${ofSession.join}${condition})`
}

/** What the SQL calls a column of the session: names of ours, and not of users. */
export const sessionColumn = (name: string) => `session_${name.replace('$', '')}`

/** `s` is the session of the event. */
function sessionJoin(names: ReadonlySet<string>, view: Compilation['view']) {
  const { sql, columns } = view(sessionsWith(new Set([...names, 'session_id'])))
  const id = columns.find(({ name }) => name === 'session_id')?.column
  return {
    join: ` LEFT JOIN (${sql}) AS s ON s.${id} = e.p_session_id`,
    list: columns
      .filter(({ name }) => names.has(name))
      .map(({ name, column }) => `s.${column} AS ${sessionColumn(name)}`),
  }
}

/** By distinct id, so that all events of one are in or none. */
function sampleSql({ from, to }: Sample, dialect: Dialect): string {
  const share = dialect.shareOf('e.distinct_id')
  return `${share} >= ${dialect.bind(from)} AND ${share} < ${dialect.bind(to)}`
}
