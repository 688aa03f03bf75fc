// ClickHouse on loopback, as far as the destination speaks to it: one path, a basic login, statements in bodies or before
// them. Strict: a call without the login, with unknown settings or an unknown statement is refused. Rows are real.
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, type Cuts, type Exchange, type Reply } from '../warehouse/cuttable-server.ts'
import { openCatalog, type Catalog } from './catalog.ts'
import { ClickHouseError, errorReply } from './errors.ts'
import { execute } from './sql.ts'

export type ClickHouseStandIn = {
  config: { url: string; user: string; password: string; database: string }
  catalog: Catalog
  cuts: Cuts
  /** Every statement that came, in order. */
  statements: string[]
  /** The next statement that has this in it is answered so. */
  failNext(text: string, reply: Reply | ClickHouseError): void
  /** The next attaching or deletion waits, its tables found: `began` once it does, `go` lets it on. */
  holdNext(): { began: Promise<unknown>; go(): void }
  close(): Promise<void>
}

const SETTINGS = new Set([
  'wait_end_of_query',
  'max_execution_time',
  'default_format',
  'query',
  'final',
  'prefer_column_name_to_alias',
])

export async function startClickHouse(): Promise<ClickHouseStandIn> {
  const catalog = await openCatalog()
  const folder = await mkdtemp(join(tmpdir(), 'clickhouse-stand-in-'))
  const login = { user: 'exporter', password: `pass ${randomUUID()}` }
  const failures: { text: string; reply: Reply | ClickHouseError }[] = []
  const deletions: string[] = []
  let pause = async () => {}

  const asFile = async (data: Buffer) => {
    const path = join(folder, `${randomUUID()}.parquet`)
    await writeFile(path, data)
    return path
  }
  const run = async (statement: string, url: URL, data: Buffer | null): Promise<Reply> => {
    standIn.statements.push(statement)
    const planned = failures.findIndex(({ text }) => statement.includes(text))
    if (planned >= 0) {
      const { reply } = failures.splice(planned, 1)[0]!
      if (reply instanceof ClickHouseError) throw reply
      return reply
    }
    const rows = await execute(statement, {
      catalog,
      database: standIn.config.database,
      values: valuesOf(url),
      is_final: url.searchParams.get('final') === '1',
      data: data === null ? null : await asFile(data),
      deletions,
      pause: () => pause(),
    })
    return { status: 200, text: rows.map((row) => `${JSON.stringify(row)}\n`).join('') }
  }
  const answer = async (exchange: Exchange): Promise<Reply> => {
    try {
      assertWellFormed(exchange, login)
      const { url, body } = exchange
      const before = url.searchParams.get('query')
      return before === null ? await run(body.toString(), url, null) : await run(before, url, body)
    } catch (error) {
      if (error instanceof ClickHouseError) return errorReply(error)
      throw error
    }
  }
  const server = await startServer(answer)
  const standIn: ClickHouseStandIn = {
    config: { url: server.url, ...login, database: 'analytics' },
    catalog,
    cuts: server.cuts,
    statements: [],
    failNext: (text, reply) => void failures.push({ text, reply }),
    holdNext() {
      const gate = new EventEmitter()
      const [began, gone] = [once(gate, 'began'), once(gate, 'go')]
      pause = async () => {
        pause = async () => {}
        gate.emit('began')
        await gone
      }
      return { began, go: () => void gate.emit('go') }
    },
    async close() {
      await server.close()
      catalog.duck.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return standIn
}

function assertWellFormed(
  { method, url, headers }: Exchange,
  login: { user: string; password: string },
): void {
  const expected = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`
  if (headers.authorization !== expected) {
    // As ClickHouse does it, and worse: the name and what was sent are part of the text.
    const sent = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    throw new ClickHouseError(
      516,
      'AUTHENTICATION_FAILED',
      `Authentication failed: password is incorrect, or there is no user with such name: ${sent}`,
    )
  }
  const unknown = [...url.searchParams.keys()].filter(
    (name) => !SETTINGS.has(name) && !name.startsWith('param_'),
  )
  const is_good =
    method === 'POST' &&
    url.pathname === '/' &&
    unknown.length === 0 &&
    url.searchParams.get('wait_end_of_query') === '1' &&
    ['JSONCompactEachRow', null].includes(url.searchParams.get('default_format'))
  if (!is_good)
    throw new ClickHouseError(
      115,
      'UNKNOWN_SETTING',
      `Not understood: ${method} ${url.pathname} ${unknown.join()}`,
    )
}

function valuesOf(url: URL): Record<string, string> {
  const given = [...url.searchParams].filter(([name]) => name.startsWith('param_'))
  return Object.fromEntries(given.map(([name, value]) => [name.slice('param_'.length), value]))
}
