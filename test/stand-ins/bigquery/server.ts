// BigQuery on loopback, as far as the destination speaks to it: the token endpoint, tables, uploads, jobs and queries.
// Strict: a call without a good token, to an unknown path or without a needed field is refused. Rows are real.
import { generateKeyPairSync, randomUUID, type KeyPairKeyObjectResult } from 'node:crypto'
import { startServer, type Cuts, type Exchange, type Reply } from '../warehouse/cuttable-server.ts'
import { startJobs } from './jobs.ts'
import { DATASET, failed, PROJECT, type Field } from './place.ts'
import { openTables, quoted, type Tables } from '../warehouse/tables.ts'
import { issueToken } from './token.ts'

export type BigQueryStandIn = {
  url: string
  config: Record<string, unknown>
  tables: Tables
  cuts: Cuts
  createTable(name: string, fields: readonly Field[]): Promise<void>
  /** How the table was asked for. */
  definitionOf(name: string): Record<string, unknown> | undefined
  /** Jobs that were cancelled. */
  asked_to_stop: readonly string[]
  questions_after_jobs(): number
  /** The next so many questions after a job hear that it is running. */
  dawdle(answers: number): void
  /** Answers the next call to a path that has this in it with an error of BigQuery's. */
  failNext(path_part: string, status: number, reason: string, message: string): void
  close(): Promise<void>
}

const TYPES: Record<string, { duckdb: string; old_name: string }> = {
  STRING: { duckdb: 'VARCHAR', old_name: 'STRING' },
  JSON: { duckdb: 'JSON', old_name: 'JSON' },
  INT64: { duckdb: 'BIGINT', old_name: 'INTEGER' },
  FLOAT64: { duckdb: 'DOUBLE', old_name: 'FLOAT' },
  BOOL: { duckdb: 'BOOLEAN', old_name: 'BOOLEAN' },
  TIMESTAMP: { duckdb: 'TIMESTAMP', old_name: 'TIMESTAMP' },
}

/** Making one takes longer than most tests. */
let made: KeyPairKeyObjectResult | null = null
const keyPair = () => (made ??= generateKeyPairSync('rsa', { modulusLength: 2048 }))

export async function startBigQuery(): Promise<BigQueryStandIn> {
  const tables = await openTables()
  const keys = keyPair()
  const account = {
    private_key_id: randomUUID(),
    client_email: `exporter@${PROJECT}.iam.gserviceaccount.com`,
  }
  const tokens = new Set<string>()
  const definitions = new Map<string, Record<string, unknown>>()
  const failures: { path_part: string; reply: Reply }[] = []
  const jobs = startJobs(tables, (name) => fieldsOf(definitions.get(name)))
  const isAuthorized = ({ headers }: Exchange) =>
    tokens.has((headers.authorization ?? '').replace(/^Bearer /, ''))

  const createTable = async (name: string, definition: Record<string, unknown>) => {
    const columns = fieldsOf(definition).map(({ name, type }) => `${quoted(name)} ${TYPES[type]!.duckdb}`)
    await tables.run([`CREATE TABLE ${quoted(name)} (${columns.join(', ')})`])
    definitions.set(name, definition)
  }
  const tableCall = async ({ method, body }: Exchange, name: string | undefined): Promise<Reply> => {
    if (name === undefined) {
      if (method !== 'POST') return failed(405, 'invalid', 'Method not allowed')
      const definition = JSON.parse(body.toString()) as Record<string, unknown>
      const fault = tableFault(definition)
      if (fault !== null) return failed(400, 'invalid', fault)
      const id = (definition.tableReference as { tableId: string }).tableId
      if (definitions.has(id))
        return failed(409, 'duplicate', `Already Exists: Table ${PROJECT}:${DATASET}.${id}`)
      await createTable(id, definition)
      return { status: 200, body: definition }
    }
    const definition = definitions.get(name)
    if (definition === undefined)
      return failed(404, 'notFound', `Not found: Table ${PROJECT}:${DATASET}.${name}`)
    if (method === 'GET')
      return { status: 200, body: { ...definition, schema: { fields: oldFields(definition) } } }
    if (method !== 'DELETE') return failed(405, 'invalid', 'Method not allowed')
    definitions.delete(name)
    await tables.run([`DROP TABLE ${quoted(name)}`])
    return { status: 204 }
  }
  const answer = async (exchange: Exchange): Promise<Reply> => {
    const { method, url } = exchange
    if (url.pathname === '/token') return issueToken(exchange, keys.publicKey, account, server.url, tokens)
    if (!isAuthorized(exchange)) return failed(401, 'authError', 'Invalid Credentials')
    const planned = failures.findIndex(({ path_part }) => url.pathname.includes(path_part))
    if (planned >= 0) return failures.splice(planned, 1)[0]!.reply
    const upload = /^\/upload\/bigquery\/v2\/projects\/([^/]+)\/jobs$/.exec(url.pathname)
    const path = /^\/bigquery\/v2\/projects\/([^/]+)(\/.*)$/.exec(url.pathname)
    const project = (upload ?? path)?.[1]
    if (project === undefined) return failed(404, 'notFound', 'Not Found')
    if (project !== PROJECT)
      return failed(403, 'accessDenied', `Access Denied: Project ${project}: ${account.client_email}`)
    if (upload) return jobs.upload(exchange)
    const rest = path![2]!
    if (rest === '/datasets' && method === 'GET') return { status: 200, body: { datasets: [] } }
    if (/^\/(jobs|queries)(\/|$)/.test(rest)) return await jobs.call(exchange, rest)
    const dataset = /^\/datasets\/([^/]+)(\/tables(?:\/([^/]+))?)?$/.exec(rest)
    if (dataset?.[1] !== DATASET)
      return failed(404, 'notFound', `Not found: Dataset ${PROJECT}:${dataset?.[1]}`)
    if (dataset[2] !== undefined)
      return await tableCall(exchange, dataset[3] && decodeURIComponent(dataset[3]))
    return method === 'GET'
      ? { status: 200, body: { location: 'EU' } }
      : failed(405, 'invalid', 'Method not allowed')
  }
  const server = await startServer(answer)
  return {
    url: server.url,
    config: {
      project_id: PROJECT,
      dataset_id: DATASET,
      table_id: 'events',
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${server.url}/token`,
      ...account,
    },
    tables,
    cuts: server.cuts,
    createTable: (name, fields) => createTable(name, { schema: { fields } }),
    asked_to_stop: jobs.asked_to_stop,
    questions_after_jobs: jobs.questions,
    dawdle: jobs.dawdle,
    definitionOf: (name) => definitions.get(name),
    failNext(path_part, status, reason, message) {
      failures.push({ path_part, reply: failed(status, reason, message) })
    },
    async close() {
      await server.close()
      tables.close()
    },
  }
}

function fieldsOf(definition: Record<string, unknown> | undefined): Field[] {
  return (definition?.schema as { fields: Field[] } | undefined)?.fields ?? []
}

function oldFields(definition: Record<string, unknown>): Field[] {
  return fieldsOf(definition).map(({ name, type }) => ({ name, type: TYPES[type]!.old_name }))
}

function tableFault(definition: Record<string, unknown>): string | null {
  const { tableReference, expirationTime } = definition as {
    tableReference?: { projectId?: string; datasetId?: string; tableId?: string }
    expirationTime?: string
  }
  if (tableReference?.projectId !== PROJECT || tableReference.datasetId !== DATASET)
    return 'Invalid table reference'
  const bad = fieldsOf(definition).find(
    ({ name, type }) => !(type in TYPES) || /[!"$()*,./;?@[\\\]^`{}~]/.test(name),
  )
  if (bad) return `Invalid field ${bad.name} of type ${bad.type}`
  if (tableReference.tableId?.startsWith('stage_') && !(Number(expirationTime) > Date.now()))
    return 'Invalid expiration'
  return fieldsOf(definition).length === 0 ? 'Schema has no fields' : null
}
