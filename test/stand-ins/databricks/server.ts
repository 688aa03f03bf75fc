// Databricks on loopback, as far as the destination speaks to it: the token endpoint, files of a volume, statements.
// Strict: a call without a good token, to an unknown path or with an unknown statement is refused. Rows are real.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startServer, type Cuts, type Exchange, type Reply } from '../warehouse/cuttable-server.ts'
import { openTables, textOf, type Tables } from '../warehouse/tables.ts'
import { linesOf, readStatement, toDuckDb } from './sql.ts'

export type DatabricksStandIn = {
  url: string
  config: Record<string, unknown>
  tables: Tables
  cuts: Cuts
  /** Paths of files and folders in the volume. */
  paths(): string[]
  /** Statements that were cancelled. */
  asked_to_stop: string[]
  /** The next so many answers about statements say that they are running. */
  dawdle(answers: number): void
  /** The next statement that has this in it fails with an error of Databricks'. */
  failNext(text: string, error_code: string, message: string): void
  close(): Promise<void>
}

const PLACE = { catalog: 'main', schema: 'analytics' }
const VOLUME = `/Volumes/${PLACE.catalog}/${PLACE.schema}/longshore_stage`
const WAREHOUSE = 'abc123def456'

export async function startDatabricks(): Promise<DatabricksStandIn> {
  const tables = await openTables()
  const folder = await mkdtemp(join(tmpdir(), 'databricks-stand-in-'))
  const principal = { client_id: randomUUID(), client_secret: `dose${randomUUID()}` }
  const tokens = new Set<string>()
  /** Where the unpacked content of each is; a folder has none. */
  const paths = new Map<string, string | null>()
  /** Files that a table has had, by table and path: they are loaded once. */
  const loaded = new Set<string>()
  const answers = new Map<string, Record<string, unknown>>()
  const failures: { text: string; error: Record<string, string> }[] = []
  let has_volume = false
  let still_running = 0

  const token = ({ method, headers, body }: Exchange): Reply => {
    const login = Buffer.from(`${principal.client_id}:${principal.client_secret}`).toString('base64')
    const form = new URLSearchParams(body.toString())
    const is_right =
      method === 'POST' &&
      headers.authorization === `Basic ${login}` &&
      form.get('grant_type') === 'client_credentials' &&
      form.get('scope') === 'all-apis'
    if (!is_right)
      return { status: 401, body: { error: 'invalid_client', error_description: headers.authorization } }
    const access_token = randomUUID()
    tokens.add(access_token)
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: 3600 } }
  }
  const inFolder = (path: string) => [...paths.keys()].filter((each) => each.startsWith(`${path}/`))
  const filesIn = (path: string) => {
    const found = inFolder(path).flatMap((each) => paths.get(each) ?? [])
    if (found.length === 0) throw new Error(`[PATH_NOT_FOUND] Path does not exist: ${path}`)
    return found
  }
  const files = async ({ method, url, body }: Exchange, kind: string, path: string): Promise<Reply> => {
    if (!has_volume || !`${path}/`.startsWith(`${VOLUME}/`)) return failed(404, 'NOT_FOUND', 'No such volume')
    if (kind === 'directories' && method === 'PUT') {
      const parts = path.slice(VOLUME.length + 1).split('/')
      parts.forEach((_, index) => paths.set(`${VOLUME}/${parts.slice(0, index + 1).join('/')}`, null))
      return { status: 204 }
    }
    if (kind === 'files' && method === 'PUT') {
      if (paths.get(path.slice(0, path.lastIndexOf('/'))) === undefined)
        return failed(404, 'NOT_FOUND', 'No such folder')
      if (url.searchParams.get('overwrite') !== 'true' && paths.has(path))
        return failed(409, 'ALREADY_EXISTS', path)
      const plain = join(folder, randomUUID())
      await writeFile(plain, path.endsWith('.gz') ? gunzipSync(body) : body)
      paths.set(path, plain)
      return { status: 204 }
    }
    if (!paths.has(path) && path !== VOLUME) return failed(404, 'NOT_FOUND', path)
    if (method === 'GET' && kind === 'directories') {
      const direct = inFolder(path).filter((each) => !each.slice(path.length + 1).includes('/'))
      return {
        status: 200,
        body: { contents: direct.map((each) => ({ path: each, is_directory: paths.get(each) === null })) },
      }
    }
    if (method !== 'DELETE') return failed(405, 'BAD_REQUEST', 'Method not allowed')
    if (inFolder(path).length > 0) return failed(400, 'BAD_REQUEST', 'The folder is not empty')
    paths.delete(path)
    return { status: 204 }
  }
  /** All files or none; those that the table had already are left out. */
  const copy = async (statement: string): Promise<void> => {
    const [, table, selected, source, listed] =
      /^COPY INTO (\S+) FROM \(SELECT (.+) FROM '([^']+)'\) FILEFORMAT = TEXT FILES = \((.+)\)$/s.exec(
        statement,
      )!
    const wanted = [...listed!.matchAll(/'([^']+)'/g)].map(([, name]) => `${source}/${name}`)
    const gone = wanted.find((path) => typeof paths.get(path) !== 'string')
    if (gone !== undefined) throw new Error(`[PATH_NOT_FOUND] Path does not exist: ${gone}`)
    const fresh = wanted.filter((path) => !loaded.has(`${table} ${path}`))
    if (fresh.length === 0) return
    const [select] = toDuckDb(`SELECT ${selected}`, filesIn)
    await tables.run([
      `INSERT INTO ${table} BY NAME ${select} FROM ${linesOf(fresh.map((path) => paths.get(path)!))}`,
    ])
    for (const path of fresh) loaded.add(`${table} ${path}`)
  }
  const execute = async (sql: string, values: Record<string, string | bigint>): Promise<unknown[][]> => {
    const statement = readStatement(sql, PLACE)
    if (statement.startsWith('CREATE VOLUME')) has_volume = true
    else if (statement.startsWith('COPY INTO')) await copy(statement)
    else {
      const odd = /^CREATE TABLE .+ \("(.*[ ,;{}()\n\t=].*)" [A-Z]+/.test(statement.split(' STRING')[0]!)
      if (odd && !statement.includes('columnMapping'))
        throw new Error('[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES]')
      const rows = await tables.run(toDuckDb(statement, filesIn), values)
      return statement.startsWith('SELECT') ? rows.map((row) => Object.values(row).map(textOf)) : []
    }
    return []
  }
  const statement = async (
    sql: string,
    values: Record<string, string | bigint>,
  ): Promise<Record<string, unknown>> => {
    const planned = failures.findIndex(({ text }) => sql.includes(text))
    if (planned >= 0) return { status: { state: 'FAILED', error: failures.splice(planned, 1)[0]!.error } }
    try {
      return { status: { state: 'SUCCEEDED' }, result: await execute(sql, values) }
    } catch (error) {
      return { status: { state: 'FAILED', error: { error_code: 'BAD_REQUEST', message: String(error) } } }
    }
  }
  const asOfNow = (answer: Record<string, unknown>) => {
    if (still_running === 0) return answer
    still_running -= 1
    return { ...answer, status: { state: 'RUNNING' }, result: undefined }
  }
  const run = async ({ body }: Exchange): Promise<Reply> => {
    const sent = JSON.parse(body.toString()) as StatementRequest
    const is_right =
      sent.warehouse_id === WAREHOUSE && sent.disposition === 'INLINE' && sent.format === 'JSON_ARRAY'
    if (!is_right) return failed(400, 'INVALID_PARAMETER_VALUE', `No such warehouse: ${sent.warehouse_id}`)
    const statement_id = randomUUID()
    const answer = { statement_id, ...(await statement(sent.statement, valuesOf(sent.parameters))) }
    answers.set(statement_id, answer)
    return { status: 200, body: asOfNow(inChunks(answer)) }
  }
  const answer = async (exchange: Exchange): Promise<Reply> => {
    const { method, url, headers } = exchange
    const path = decodeURIComponent(url.pathname)
    if (path === '/oidc/v1/token') return token(exchange)
    if (!tokens.has((headers.authorization ?? '').replace(/^Bearer /, ''))) {
      return failed(401, 'UNAUTHENTICATED', `Bad token ${headers.authorization}`)
    }
    const file = /^\/api\/2\.0\/fs\/(files|directories)(\/.+)$/.exec(path)
    if (file) return await files(exchange, file[1]!, file[2]!)
    if (method === 'POST' && path === '/api/2.0/sql/statements/') return await run(exchange)
    const cancelled = /^\/api\/2\.0\/sql\/statements\/([^/]+)\/cancel$/.exec(path)?.[1]
    if (method === 'POST' && cancelled !== undefined) {
      standIn.asked_to_stop.push(cancelled)
      return { status: 200, body: {} }
    }
    const chunk = /^\/api\/2\.0\/sql\/statements\/([^/]+)\/result\/chunks\/(\d+)$/.exec(path)
    const chunked = method === 'GET' && chunk ? answers.get(chunk[1]!) : undefined
    if (chunked) return { status: 200, body: chunkOf(chunked.result as unknown[][], Number(chunk![2])) }
    const asked = /^\/api\/2\.0\/sql\/statements\/([^/]+)$/.exec(path)?.[1]
    const found = method === 'GET' && asked !== undefined ? answers.get(asked) : undefined
    return found ? { status: 200, body: asOfNow(inChunks(found)) } : failed(404, 'ENDPOINT_NOT_FOUND', path)
  }
  const server = await startServer(answer)
  const standIn: DatabricksStandIn = {
    url: server.url,
    config: {
      server_hostname: '127.0.0.1',
      http_path: `/sql/1.0/warehouses/${WAREHOUSE}`,
      ...PLACE,
      table_name: 'events',
      ...principal,
    },
    tables,
    cuts: server.cuts,
    paths: () => [...paths.keys()],
    asked_to_stop: [],
    dawdle(answers) {
      still_running = answers
    },
    failNext(text, error_code, message) {
      failures.push({ text, error: { error_code, message } })
    },
    async close() {
      await server.close()
      tables.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return standIn
}

/** Few, so that tests come to the second chunk. */
const ROWS_OF_A_CHUNK = 50

function inChunks(answer: Record<string, unknown>): Record<string, unknown> {
  return Array.isArray(answer.result) ? { ...answer, result: chunkOf(answer.result, 0) } : answer
}

function chunkOf(rows: readonly unknown[][], index: number): Record<string, unknown> {
  const [from, to] = [index * ROWS_OF_A_CHUNK, (index + 1) * ROWS_OF_A_CHUNK]
  const chunk = { chunk_index: index, data_array: rows.slice(from, to) }
  return to < rows.length ? { ...chunk, next_chunk_index: index + 1 } : chunk
}

type StatementParameter = { name: string; value: string; type: string }
type StatementRequest = {
  warehouse_id: string
  statement: string
  parameters: StatementParameter[]
  disposition: string
  format: string
}

function valuesOf(parameters: readonly StatementParameter[]): Record<string, string | bigint> {
  return Object.fromEntries(
    parameters.map(({ name, value, type }) => [name, type === 'BIGINT' ? BigInt(value) : value]),
  )
}

function failed(status: number, error_code: string, message: string): Reply {
  return { status, body: { error_code, message } }
}
