// The statements that the ClickHouse destination sends, carried out on DuckDB. Any other statement is an error.
import { digestShapes, rowHashShape, type DigestWords } from '../warehouse/digest-shapes.ts'
import { quoted } from '../warehouse/tables.ts'
import type { Column, Table } from './catalog.ts'
import { ClickHouseError } from './errors.ts'
import { NAME, nameIn, onDuckDb, TABLE, toDuckDb, unquote, type Rows, type Sent } from './on-duckdb.ts'

type Handler = (sent: Sent, match: string[]) => Promise<Rows>

const WITHIN = `(?: AND ${NAME} BETWEEN \\(SELECT min\\(${NAME}\\) FROM ${TABLE}\\) AND \\(SELECT max\\(${NAME}\\) FROM ${TABLE}\\))?`
/** The uuid, and maybe the time and the project. */
const NAMES = `${NAME}(?:, ${NAME})*`
const KEY_OF_ROW = `(?:${NAME}|\\(${NAME}(?:, ${NAME})+\\))`
const KEYS = `SELECT ${NAMES} FROM ${TABLE} WHERE ${KEY_OF_ROW} IN \\(SELECT ${NAMES} FROM ${TABLE}\\)${WITHIN}`
const TEXTS = `toString\\(${NAME}\\)(?:, toString\\(${NAME}\\))*`
const TEXT = "'(?:\\\\.|[^'\\\\])*'"
const TEXT_PAIR = `\\(${TEXT}(?:, ${TEXT})+\\)`
const KEY = `(tuple\\(\\)|\\(.+\\)|${NAME}|\\w+)`

const DIGEST_WORDS: DigestWords = {
  name: `(?:${NAME}\\.)?${NAME}`,
  text: TEXT,
  text_type: 'Nullable\\(String\\)',
  integer_type: 'Nullable\\(Int64\\)',
  parameter: '\\{bucket:String\\}',
  md5: (text) => `lower\\(hex\\(MD5\\(${text}\\)\\)\\)`,
  numberOf: (digits) => `reinterpretAsUInt32\\(reverse\\(unhex\\(${digits}\\)\\)\\)`,
  micros: (value) => `toUnixTimestamp64Micro\\(${value}\\)`,
  json: (value) => value,
  moment: "fromUnixTimestamp64Micro\\(-?\\d+, 'UTC'\\)",
  chr: 'char',
}
const HASH = rowHashShape(DIGEST_WORDS)
const AT_ONCE = 'SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1'

const HANDLERS: [shape: string, handler: Handler][] = [
  ['SELECT 1', async () => [[1]]],
  [
    String.raw`SELECT count\(\) FROM system\.databases WHERE name = \{database:String\}`,
    async ({ values, database }) => [[values.database === database ? 1 : 0]],
  ],
  [
    String.raw`SELECT engine, engine_full, storage_policy FROM system\.tables WHERE database = \{database:String\} AND name = \{table:String\}`,
    async (sent) => {
      const table = inSystem(sent)
      return table === null ? [] : [[table.engine, definitionOf(table), 'default']]
    },
  ],
  [
    String.raw`SELECT name, type, default_kind FROM system\.columns WHERE database = \{database:String\} AND table = \{table:String\}`,
    async (sent) =>
      inSystem(sent)?.columns.map(({ name, type, default_kind }) => [name, type, default_kind]) ?? [],
  ],
  [
    String.raw`SELECT name FROM system\.tables WHERE database = \{database:String\} AND startsWith\(name, \{prefix:String\}\)`,
    async ({ catalog, values }) => startingWith(catalog.names(), values.prefix!),
  ],
  [
    String.raw`SELECT count\(\) FROM system\.dropped_tables WHERE database = \{database:String\} AND startsWith\(table, \{prefix:String\}\)`,
    async ({ catalog, values }) => [[startingWith(catalog.dropped(), values.prefix!).length]],
  ],
  [
    String.raw`CREATE TABLE (IF NOT EXISTS )?${TABLE} \((.+)\) ENGINE = (\w+)(?:\((${NAME})\))? ORDER BY ${KEY}`,
    create,
  ],
  [
    String.raw`CREATE TABLE ${TABLE} AS ${TABLE} ENGINE = MergeTree (?:PARTITION BY (.+) )?ORDER BY ${KEY} SETTINGS allow_nullable_key = 1, storage_policy = 'default'`,
    createLike,
  ],
  [String.raw`DROP TABLE IF EXISTS ${TABLE} SYNC`, drop],
  [String.raw`ALTER TABLE ${TABLE} MODIFY COLUMN (${NAME}) MATERIALIZED (toUUID\('[0-9a-f-]{36}'\))`, modify],
  [String.raw`INSERT INTO ${TABLE} FORMAT Parquet`, insertFile],
  [String.raw`ALTER TABLE ${TABLE} ATTACH PARTITION ALL FROM ${TABLE}`, attach],
  [String.raw`ALTER TABLE ${TABLE} DELETE WHERE (${KEY_OF_ROW} IN \(${KEYS}\)) ${AT_ONCE}`, deleteWhere],
  [
    String.raw`ALTER TABLE ${TABLE} DELETE WHERE (\(${NAMES}, ${HASH}\) IN \(SELECT ${NAMES}, any\(${HASH}\) FROM ${TABLE} WHERE ${KEY_OF_ROW} IN \(SELECT ${NAMES} FROM ${TABLE}\) GROUP BY ${NAMES} HAVING count\(\) = 1\)) ${AT_ONCE}`,
    deleteWhere,
  ],
  [
    String.raw`ALTER TABLE ${TABLE} DELETE WHERE (${NAME} IN \(${TEXT}(?:, ${TEXT})*\)|\(${TEXTS}\) IN \(${TEXT_PAIR}(?:, ${TEXT_PAIR})*\)) AND \(SELECT count\(\) FROM system\.tables WHERE database = (${TEXT}) AND name = (${TEXT})\) > 0 ${AT_ONCE}, mutations_execute_subqueries_on_initiator = 0`,
    deleteWhile,
  ],
  [
    String.raw`SELECT count\(\) FROM system\.mutations WHERE database = \{database:String\} AND table = \{table:String\} AND is_done = 0 AND position\(command, \{prefix:String\}\) > 0`,
    async ({ deletions, values }) => [
      [deletions.filter((command) => command.includes(values.prefix!)).length],
    ],
  ],
  ...[
    String.raw`INSERT INTO ${TABLE} SELECT \{run_id:UUID\}, \{batch_export_id:UUID\}, \{table_name:String\}, \{rows:UInt64\}, now\('UTC'\)`,
    String.raw`SELECT ${NAME} FROM ${TABLE} WHERE ${NAME} = \{run_id:UUID\} LIMIT 1`,
    String.raw`SELECT count\(\) FROM ${TABLE}`,
    String.raw`SELECT count\(\) FROM ${TABLE} WHERE ${KEY_OF_ROW} NOT IN \(${KEYS}\)`,
    String.raw`SELECT count\(\) FROM ${TABLE} WHERE ${NAME} = \{run_id:UUID\}`,
    String.raw`SELECT DISTINCT ${TEXTS} FROM ${TABLE} WHERE ${KEY_OF_ROW} IN \(SELECT ${NAMES} FROM ${TABLE}\) LIMIT \d+`,
    ...digestShapes(DIGEST_WORDS),
  ].map((shape): [string, Handler] => [shape, (sent, [statement]) => onDuckDb(sent, statement!)]),
]
const KNOWN = HANDLERS.map(([shape, handler]) => [new RegExp(`^${shape}$`, 's'), handler] as const)

export async function execute(statement: string, sent: Sent): Promise<Rows> {
  for (const [shape, handler] of KNOWN) {
    const match = shape.exec(statement)
    if (match === null) continue
    assertValues(statement, sent.values)
    return await handler(sent, match)
  }
  throw new ClickHouseError(62, 'SYNTAX_ERROR', `Syntax error: ${statement}`)
}

function assertValues(statement: string, values: Record<string, string>): void {
  const asked = [...statement.matchAll(/\{(\w+):\w+\}/g)].map(([, name]) => name!)
  const missing = asked.filter((name) => values[name] === undefined)
  const idle = Object.keys(values).filter((name) => !asked.includes(name))
  if (missing.length + idle.length > 0)
    throw new ClickHouseError(
      456,
      'UNKNOWN_QUERY_PARAMETER',
      `Parameters: ${[...missing, ...idle].join(', ')}`,
    )
}

const inSystem = ({ catalog, values, database }: Sent) =>
  values.database === database ? catalog.find(values.table!) : null

/** As ClickHouse lists it; settings that nobody gave are part of it. */
function definitionOf({ engine, version, partition_key, order }: Table): string {
  const quotedNames = order.map((name) => (/^\w+$/.test(name) ? name : `\`${name}\``))
  const key =
    order.length === 1 ? quotedNames[0] : order.length === 0 ? 'tuple()' : `(${quotedNames.join(', ')})`
  const partition = partition_key === '' ? '' : ` PARTITION BY ${partition_key}`
  return `${engine}${version === null ? '' : `(${version})`}${partition} ORDER BY ${key} SETTINGS index_granularity = 8192`
}

const startingWith = (names: readonly string[], prefix: string) =>
  names.filter((name) => name.startsWith(prefix)).map((name) => [name])

async function create({ catalog, database }: Sent, match: string[]): Promise<Rows> {
  const [, unless, reference, definitions, engine, version, key] = match
  const name = nameIn(reference!, database)
  if (unless !== undefined && catalog.find(name) !== null) return []
  if (engine !== 'MergeTree' && engine !== 'ReplacingMergeTree')
    throw new ClickHouseError(56, 'UNKNOWN_STORAGE', `Unknown table engine ${engine}`)
  const columns = readColumns(definitions!)
  const order = readKey(key!)
  const types = new Map(columns.map((column) => [column.name, column.type]))
  for (const column of order) {
    if (!types.has(column)) throw new ClickHouseError(47, 'UNKNOWN_IDENTIFIER', `Missing columns: ${column}`)
    if (types.get(column)!.startsWith('Nullable'))
      throw new ClickHouseError(44, 'ILLEGAL_COLUMN', `Sorting key contains nullable columns: ${column}`)
  }
  const of_version = version === undefined ? null : unquote(version)
  await catalog.create(name, { engine, version: of_version, partition_key: '', order, columns })
  return []
}

// Two parentheses deep: `Nullable(DateTime64(6, 'UTC'))`.
const EXPRESSION = String.raw`(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+`
const COLUMN = new RegExp(`(${NAME}) (${EXPRESSION}?)(?: MATERIALIZED (${EXPRESSION}))?(?:, |$)`, 'gs')

function readColumns(definitions: string): Column[] {
  const found = [...definitions.matchAll(COLUMN)]
  if (found.map(([text]) => text).join('') !== definitions)
    throw new ClickHouseError(62, 'SYNTAX_ERROR', `Syntax error: ${definitions}`)
  return found.map(([, name, type, expression]) => ({
    name: unquote(name!),
    type: type!,
    default_kind: expression === undefined ? '' : 'MATERIALIZED',
    expression: expression ?? '',
  }))
}

/** Names as users write them, or as ClickHouse lists them. */
function readKey(key: string): string[] {
  if (key === 'tuple()') return []
  return [...key.matchAll(new RegExp(`${NAME}|\\w+`, 'g'))].map(([name]) =>
    name.startsWith('`') ? unquote(name) : name,
  )
}

async function createLike({ catalog, database }: Sent, match: string[]): Promise<Rows> {
  const [, name, like, partition_key = '', sorting] = match
  const { columns } = catalog.get(nameIn(like!, database))
  const order = readKey(sorting!)
  await catalog.create(nameIn(name!, database), {
    engine: 'MergeTree',
    version: null,
    partition_key,
    order,
    columns: columns.map((column) => ({ ...column })),
  })
  return []
}

async function drop({ catalog, database }: Sent, [, reference]: string[]): Promise<Rows> {
  await catalog.drop(nameIn(reference!, database))
  return []
}

async function modify({ catalog, database }: Sent, match: string[]): Promise<Rows> {
  const [, reference, name, expression] = match
  const table = catalog.get(nameIn(reference!, database))
  const column = table.columns.find((each) => each.name === unquote(name!))
  if (!column) throw new ClickHouseError(10, 'NOT_FOUND_COLUMN_IN_BLOCK', `Wrong column ${name}`)
  Object.assign(column, { default_kind: 'MATERIALIZED', expression })
  return []
}

/** Columns that the file lacks get their default; a null is refused where there must be a value. */
async function insertFile({ catalog, database, data }: Sent, [, reference]: string[]): Promise<Rows> {
  const table = catalog.get(nameIn(reference!, database))
  const file = `read_parquet('${data}')`
  const described = await catalog.duck.run([`DESCRIBE SELECT * FROM ${file}`])
  const in_file = new Set(described.map(({ column_name }) => String(column_name)))
  const filled = table.columns.filter(
    ({ name, default_kind }) => default_kind === 'MATERIALIZED' || in_file.has(name),
  )
  const values = filled.map(({ name, default_kind, expression }) =>
    default_kind === 'MATERIALIZED' ? toDuckDb(expression) : quoted(name),
  )
  const names = filled.map(({ name }) => quoted(name))
  await catalog.duck
    .run([`INSERT INTO ${table.rows} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${file}`])
    .catch((error: unknown) => {
      throw new ClickHouseError(27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED', String(error))
    })
  return []
}

async function attach({ catalog, database, pause }: Sent, [, to, from]: string[]): Promise<Rows> {
  const [target, stage] = [to!, from!].map((reference) => catalog.get(nameIn(reference, database)))
  assertAlike(target!, stage!)
  return await catalog.using([target!, stage!], async () => {
    await pause()
    await catalog.duck.run([`INSERT INTO ${target!.rows} BY NAME SELECT * FROM ${stage!.rows}`])
    return []
  })
}

function deleteWhere(sent: Sent, [, table, condition]: string[]): Promise<Rows> {
  return onDuckDb(sent, `DELETE FROM ${table} WHERE ${condition}`)
}

/** Whether the table of that name is there shows when the deletion comes to its rows. */
async function deleteWhile(sent: Sent, match: string[]): Promise<Rows> {
  const [command, table, condition, database, name] = match
  const target = sent.catalog.get(nameIn(table!, sent.database))
  sent.deletions.push(command!)
  try {
    return await sent.catalog.using([target], async () => {
      await sent.pause()
      const is_there = unquote(database!) === sent.database && sent.catalog.find(unquote(name!)) !== null
      return is_there ? await deleteWhere(sent, ['', table!, condition!]) : []
    })
  } finally {
    sent.deletions.splice(sent.deletions.indexOf(command!), 1)
  }
}

function assertAlike(target: Table, stage: Table): void {
  const shape = ({ columns }: Table) => columns.map(({ name, type }) => `${name} ${type}`).join(', ')
  if (shape(target) !== shape(stage))
    throw new ClickHouseError(122, 'INCOMPATIBLE_COLUMNS', 'Tables have different structure')
  if (target.partition_key !== stage.partition_key)
    throw new ClickHouseError(36, 'BAD_ARGUMENTS', 'Tables have different partition key')
  if (target.order.join() !== stage.order.join())
    throw new ClickHouseError(36, 'BAD_ARGUMENTS', 'Tables have different ordering')
}
