// The table that rows go to: found as it is, or created. The statements work in both PostgreSQL and Redshift.
import { Refused, type RunFacts } from '../destination.ts'
import type { Model, OutputColumn } from '../../definition.ts'
import { sqlstateOf } from './failures.ts'
import { qualified, quoted, quotedList, type TableName } from './identifiers.ts'
import type { Session } from './session.ts'

export type Table = {
  /** Qualified and quoted. */
  name: string
  /** Types by column name, as the database writes them. */
  types: ReadonlyMap<string, string>
}

/** Columns that identify a row: the primary key of tables that are created here. Events have none. */
export const KEYS: Record<Model, readonly string[] | null> = {
  events: null,
  persons: ['team_id', 'distinct_id'],
  sessions: ['team_id', 'session_id'],
}

/** When two runs create the same table at once, one of them is told that it, or its type, exists already. */
const MADE_MEANWHILE = new Set(['23505', '42P07', '42710'])

/** `body` is that of CREATE TABLE; `also` are further statements that belong to its creation. */
type NewTable = { body: string; also?: string }

/** The body for rows of a model. */
export function newTable(
  { model }: Pick<RunFacts, 'model'>,
  columns: readonly OutputColumn[],
  { typeOf, also = '' }: { typeOf(column: OutputColumn): string; also?: string },
): NewTable {
  return { body: definitionOf(columns, typeOf, KEYS[model]), also }
}

export function createTable(name: TableName, { body, also = '' }: NewTable): string {
  return `CREATE TABLE ${qualified(name)} (${body});${also === '' ? '' : ` ${also}`}`
}

export async function ensureTable(session: Session, name: TableName, table: NewTable): Promise<Table> {
  const found = await findTable(session, name)
  if (found !== null) return found
  await assertSchema(session, name.schema)
  // Created whole or not at all. Not in the run's transaction: others would wait for its end to see the table.
  await session.run(createTable(name, table)).catch((error: unknown) => {
    if (!MADE_MEANWHILE.has(sqlstateOf(error))) throw error
  })
  const made = await findTable(session, name)
  if (made === null)
    throw new Refused(`The table ${qualified(name)} was made and is gone again. Find out what drops it.`)
  return made
}

export async function findTable(session: Session, { schema, table }: TableName): Promise<Table | null> {
  const columns = await session.rows<{ name: string; type: string }>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
       FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema, table],
  )
  if (columns.length === 0) return null
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  return { name: qualified({ schema, table }), types }
}

export async function assertSchema(session: Session, schema: string): Promise<void> {
  const found = await session.rows(`SELECT 1 FROM pg_namespace WHERE nspname = $1`, [schema])
  if (found.length === 0)
    throw new Refused(
      `There is no schema ${quoted(schema)} in this database. Create it, or correct \`schema\`.`,
    )
}

/** The body of CREATE TABLE. */
export function definitionOf(
  columns: readonly OutputColumn[],
  typeOf: (column: OutputColumn) => string,
  key: readonly string[] | null,
): string {
  const lines = columns.map((column) => `${quoted(column.name)} ${typeOf(column)}`)
  return [...lines, ...(key === null ? [] : [`PRIMARY KEY (${quotedList(key)})`])].join(', ')
}
