// One session at Snowflake's stand-in: its transaction, and the locks that it holds to the end of it.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted, textOf, type Tables } from '../warehouse/tables.ts'
import { SqlFault, toDuckDb } from './sql.ts'

export type Session = {
  run(sql: string, binds: readonly (string | number | null)[]): Promise<Record<string, unknown>>
  close(): Promise<void>
}

type Place = { folder: string; database: string; schema: string; warehouse: string | null }
type Row = Record<string, unknown>

/** Who holds the lock of which table, and who waits for it; for each stand-in. */
const LOCKS = new WeakMap<Tables, Map<string, Promise<void>>>()

export async function openSession(tables: Tables, place: Place): Promise<Session> {
  const connection = await tables.connect()
  const locks = LOCKS.get(tables) ?? new Map<string, Promise<void>>()
  LOCKS.set(tables, locks)
  let in_transaction = false
  const held: (() => void)[] = []

  const end = async (how: 'COMMIT' | 'ROLLBACK') => {
    if (in_transaction) await connection.run(how)
    in_transaction = false
    for (const release of held.splice(0)) release()
  }
  const lock = async (table: string) => {
    const before = locks.get(table)
    locks.set(table, new Promise((resolve) => held.push(resolve)))
    await before
  }
  const run: Session['run'] = async (sql, binds) => {
    if (sql.startsWith('PUT ')) return upload(sql, place)
    if (sql.startsWith('COPY ')) return resultOf(await copy(connection, sql, place))
    if (sql.startsWith('USE ')) return use(sql, place)
    const statement = toDuckDb(sql, place)
    if (sql === 'SELECT CURRENT_WAREHOUSE() AS "warehouse"') return resultOf([{ warehouse: place.warehouse }])
    if (sql === 'COMMIT' || sql === 'ROLLBACK') return end(sql).then(() => resultOf([]))
    // What makes or drops something commits what was before it.
    if (/^(CREATE|DROP) /.test(sql)) await end('COMMIT')
    if (sql === 'BEGIN TRANSACTION') in_transaction = true
    if (sql.startsWith('MERGE ')) await lock(/^MERGE INTO ("(?:""|[^"])*")/.exec(statement)![1]!)
    if (sql.startsWith('DROP ')) await dropFiles(place, statement)
    const rows = await execute(connection, statement, binds)
    if (sql.startsWith('MERGE ') && !in_transaction) await end('COMMIT')
    return resultOf(rows)
  }
  return {
    run,
    async close() {
      await end('ROLLBACK').catch(() => {})
      connection.closeSync()
    },
  }
}

async function execute(
  connection: DuckDBConnection,
  statement: string,
  binds: readonly (string | number | null)[],
): Promise<Row[]> {
  try {
    const merges = statement.startsWith('MERGE ')
    const told = merges ? `${statement} RETURNING merge_action` : statement
    const rows = (await connection.runAndReadAll(told, [...binds])).getRowObjectsJS() as Row[]
    if (merges) return [countsOf(rows)]
    return statement.startsWith('INSERT') ? [{ 'number of rows inserted': rows[0]?.Count }] : rows
  } catch (error) {
    if (/does not exist/.test(String(error)))
      throw new SqlFault('002003', '02000', 'Object does not exist or not authorized.')
    throw error
  }
}

function countsOf(actions: readonly Row[]): Row {
  const counts = (action: string) => actions.filter(({ merge_action }) => merge_action === action).length
  return {
    'number of rows inserted': counts('INSERT'),
    'number of rows updated': counts('UPDATE'),
    'number of rows deleted': counts('DELETE'),
  }
}

function use(sql: string, { database, schema }: Place): Row {
  const known = [`USE DATABASE "${database}"`, `USE SCHEMA "${database}"."${schema}"`]
  if (!known.includes(sql))
    throw new SqlFault('002043', '02000', 'Object does not exist, or operation cannot be performed.')
  return resultOf([])
}

/** The driver itself copies the file to where a stage of this kind is. */
function upload(sql: string, { folder, database, schema }: Place): Row {
  const put =
    /^PUT 'file:\/\/((?:\\.|[^'\\])+)' @"(.+?)"\."(.+?)"\.%"(.+?)"\/(\d+)\/ SOURCE_COMPRESSION = GZIP AUTO_COMPRESS = FALSE OVERWRITE = TRUE$/.exec(
      sql,
    )
  if (put?.[2] !== database || put[3] !== schema)
    throw new SqlFault('001003', '42000', 'SQL compilation error: bad PUT')
  return {
    command: 'UPLOAD',
    src_locations: [put[1]!.replaceAll(/\\(.)/g, '$1')],
    autoCompress: false,
    sourceCompression: 'gzip',
    overwrite: true,
    parallel: 4,
    stageInfo: { locationType: 'LOCAL_FS', location: join(folder, put[4]!, put[5]!), creds: {} },
  }
}

async function copy(connection: DuckDBConnection, sql: string, place: Place): Promise<Row[]> {
  const here = `"${place.database}"."${place.schema}".`
  const match =
    /^COPY INTO "(.+)" FROM @%"(.+)" FILE_FORMAT = \(TYPE = JSON COMPRESSION = GZIP\) ON_ERROR = ABORT_STATEMENT$/.exec(
      sql.replaceAll(here, ''),
    )
  if (match === null || match[1] !== match[2])
    throw new SqlFault('001003', '42000', 'SQL compilation error: bad COPY')
  const stage = match[1]!
  const files = await readdir(join(place.folder, stage), { recursive: true, withFileTypes: true })
  const results: Row[] = []
  for (const file of files.filter((each) => each.isFile())) {
    const plain = join(file.parentPath, `${file.name}.plain`)
    await writeFile(plain, gunzipSync(await readFile(join(file.parentPath, file.name))))
    const [count] = await execute(
      connection,
      `INSERT INTO ${quoted(stage)} SELECT json FROM read_ndjson_objects('${plain}')`,
      [],
    )
    await rm(plain)
    results.push({ file: file.name, status: 'LOADED', rows_loaded: count?.['number of rows inserted'] })
  }
  return results
}

async function dropFiles({ folder }: Place, statement: string): Promise<void> {
  const table = /^DROP TABLE IF EXISTS "(.+)"$/.exec(statement)![1]!
  await rm(join(folder, table), { recursive: true, force: true })
}

/** Rows as the driver reads them: everything as text, with the types said beside it. */
function resultOf(rows: readonly Row[]): Row {
  const names = Object.keys(rows[0] ?? { status: '' })
  const isNumber = (name: string) =>
    rows.some((row) => typeof row[name] === 'bigint' || typeof row[name] === 'number')
  const rowtype = names.map((name) => ({
    name,
    nullable: true,
    ...(isNumber(name) ? { type: 'fixed', scale: 0, precision: 38 } : { type: 'text' }),
  }))
  const rowset = rows.map((row) => names.map((name) => textOf(row[name])))
  return {
    rowtype,
    rowset,
    total: rows.length,
    returned: rows.length,
    queryResultFormat: 'json',
    parameters: [],
  }
}
