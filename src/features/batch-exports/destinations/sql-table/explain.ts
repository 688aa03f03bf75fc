// What an error of a database tells the owner of an export: what happened, to which column or table, and what to do. The
// database's own words are passed on only for errors that cannot quote values of rows. Called by failures.ts.
import type pg from 'pg'

type Names = {
  /** `the column "ip" of the table "events"` */
  column: string
  /** `the constraint "ip_known" of the table "events"` */
  constraint: string
  table: string
  /** The database's own words. */
  said: string
}

/** What happened, and what to do. */
type Explanation = (names: Names) => readonly [string, string]

const CHANGE_TABLE = 'Change the table so that it takes the rows, then retry the run.'

/** By SQLSTATE, or by its class. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  '0A': ({ said }) => [said, CHANGE_TABLE],
  '22': ({ column }) => [
    `A value does not fit the type of ${column}`,
    'Change the type to one that takes it, or leave the column out by a `hogql_query`.',
  ],
  '22001': ({ column }) => [`A value is too long for ${column}`, 'Give the column a longer type.'],
  '22021': ({ column }) => [
    `The database's encoding lacks a character of ${column}`,
    'Export to a database with the encoding UTF8.',
  ],
  '23': ({ constraint }) => [
    `A row breaks ${constraint}`,
    'Drop the constraint, or leave such events out by a filter.',
  ],
  '23502': ({ column }) => [
    `A row has no value for ${column}, which must not be null`,
    'Give the column a default, allow nulls in it, or drop it.',
  ],
  '23505': ({ constraint }) => [
    `A row is in conflict with ${constraint}`,
    'Drop the constraint, or remove the rows that are in the way.',
  ],
  '25006': () => [
    'The database takes no changes: it is a standby, or set to read only',
    'Export to its primary, or allow changes.',
  ],
  '28': () => [
    'The database refused the login',
    'Check user and password, and that its server lets this one in.',
  ],
  '3D': ({ said }) => [said, 'Create the database, or correct `database`.'],
  '3F': ({ said }) => [said, 'Create the schema, or correct `schema`.'],
  '42': ({ said }) => [said, CHANGE_TABLE],
  '42501': ({ said }) => [
    said,
    "Grant it to the export's user: USAGE and CREATE on the schema, SELECT and INSERT on the table.",
  ],
  '42703': ({ said }) => [said, 'Add the column again, then retry the run.'],
  '42P01': ({ said }) => [said, 'Retry the run: it makes a table where there is none.'],
  '44': ({ table }) => [
    `A row does not meet the condition of the view behind ${table}`,
    'Export to the table that the view shows.',
  ],
  '53100': () => ["The database's disk is full", 'Free some room there, then retry the run.'],
  '54': ({ said }) => [said, CHANGE_TABLE],
  '55P03': ({ table }) => [
    `Another session keeps ${table} locked`,
    'Find it in pg_stat_activity if this goes on.',
  ],
  '57014': () => [
    'The database stopped a statement that took too long',
    'Look for what else keeps it busy, or raise its statement_timeout.',
  ],
  P0: ({ table }) => [
    `A trigger or function behind ${table} raised an error`,
    "The database's log says which: correct it, or export to a table without it.",
  ],
}

/** Classes whose messages speak of names, locks and the server, never of values. */
const PLAIN_CLASSES = new Set(['08', '0A', '21', '25', '3D', '3F', '40', '42', '53', '54', '55', '57', '58'])

export function explain(error: pg.DatabaseError): string {
  const state = error.code ?? ''
  const group = state.slice(0, 2)
  const names = namesIn(error)
  const explanation = isPartitionMissing(error)
    ? partitionMissing
    : (EXPLANATIONS[state] ?? EXPLANATIONS[group])
  if (explanation) {
    const [what, advice] = explanation(names)
    return `${what} (${state}). ${advice}`
  }
  return PLAIN_CLASSES.has(group)
    ? `${names.said} (${state}).`
    : `The database reports an error (${state}). Its log says more.`
}

/** The one violation of a check that names none. */
function isPartitionMissing({ code, constraint }: pg.DatabaseError): boolean {
  return code === '23514' && constraint === undefined
}

const partitionMissing: Explanation = ({ table }) => [
  `There is no partition for a row in ${table}`,
  'Add the missing partition, or a default one.',
]

function namesIn(error: pg.DatabaseError): Names {
  const column = error.column ?? columnIn(error.where)
  const table = error.table === undefined ? null : `the table "${error.table}"`
  const type = error.dataType === undefined ? null : `the type "${error.dataType}"`
  const owner = table ?? type ?? 'the table'
  return {
    column: column === null ? `a column of ${owner}` : `the column "${column}"${table ? ` of ${table}` : ''}`,
    constraint:
      error.constraint === undefined
        ? `a rule of ${owner}`
        : `the constraint "${error.constraint}" of ${owner}`,
    table: owner,
    said: `The database says: ${error.message}`,
  }
}

/** COPY names the column in the context of its error, before the value that it stumbled over. */
function columnIn(where: string | undefined): string | null {
  return /^COPY .*?, line \d+, column (.*?): /m.exec(where ?? '')?.[1] ?? null
}
