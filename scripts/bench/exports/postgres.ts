// An export to PostgreSQL beside `psql \copy` of a file that is ready, into a table of the same kind in the same server.
// The file holds the same rows in the same spelling. One that PostgreSQL wrote itself would not do: the keys of its JSON
// are in the order that jsonb wants, and sorting them is a fifth of the work of taking events in.
import { execFile } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../../src/platform/db/embedded/embedded.ts'
import { tablesOf } from '../../../src/platform/event-store/layout.ts'
import { openLog } from '../../../src/platform/log/log.ts'
import { postmasterOf } from '../../../test/end-to-end/program.ts'
import { onFiles } from './bare.ts'
import { compare, ROUNDS } from './compare.ts'
import { assertSame } from './content.ts'
import type { Destination, Measured } from './measured-process.ts'
import { exportTo } from './order.ts'
import { endedChildrenCpuS, postgresCpuS } from './process-figures.ts'
import type { SampleStore } from './sample-store.ts'

const GOAL = 0.9
// Our PostgreSQL has one port, so an address that nobody else listens on.
const HOST = '127.0.13.7'
const OURS = 'events'
const BARE = 'bare_events'
const LEDGER = 'longshore_export_runs'

export async function benchPostgres(store: SampleStore): Promise<boolean> {
  const warehouse = await openWarehouse(join(store.folder, 'warehouse'))
  const ready = join(store.folder, 'ready-copy')
  const content = await storedContent(store)
  try {
    return await compare({
      name: 'Postgres',
      events: store.events,
      rounds: ROUNDS,
      goal: GOAL,
      async ours() {
        await warehouse.sql('CHECKPOINT')
        const { postmaster } = warehouse
        const exported = await exportTo(store, warehouse.destination, { postmaster })
        assertSame('Postgres, ours', await tableContent(warehouse, OURS), content)
        return exported
      },
      async bare() {
        await onFiles(store, (connection) => connection.run(readySql(store, ready)))
        await warehouse.sql(`CREATE TABLE ${BARE} (LIKE ${OURS} INCLUDING ALL)`)
        const pages = await countPages(warehouse, OURS)
        await warehouse.dropOurs()
        await warehouse.sql('CHECKPOINT')
        const measured = await measuredCopy(warehouse, ready)
        assertSame('Postgres, bare', await tableContent(warehouse, BARE), content)
        assertAsLarge(await countPages(warehouse, BARE), pages)
        await warehouse.sql(`DROP TABLE ${BARE}`)
        return measured
      },
    })
  } finally {
    await warehouse.close()
    await rm(ready, { force: true })
  }
}

export type Warehouse = {
  destination: Destination
  postmaster: number
  sql(text: string): Promise<pg.QueryResult<Record<string, unknown>>>
  /** What an export has made. */
  dropOurs(): Promise<void>
  /** What the whole server has used. */
  cpuS(): number
  close(): Promise<void>
}

export async function openWarehouse(folder: string): Promise<Warehouse> {
  await mkdir(folder)
  await chmod(folder, 0o755)
  const hba_file = join(folder, 'hba.conf')
  await writeFile(hba_file, 'local all all trust\nhost all all 127.0.0.0/8 trust\n', { mode: 0o644 })
  const server = await openEmbeddedPostgres({
    dataDir: folder,
    log: openLog({ level: 'error', format: 'json' }),
    role: 'server',
    settings: { hba_file, listen_addresses: HOST },
  })
  const client = new pg.Client(server.connection)
  await client.connect()
  const postmaster = (await postmasterOf(folder))!
  const login = { user: 'longshore', password: 'not asked for', database: 'longshore' }
  return {
    destination: { type: 'Postgres', config: { ...login, host: HOST, table_name: OURS } },
    postmaster,
    sql: (text) => client.query(text),
    dropOurs: async () => void (await client.query(`DROP TABLE ${OURS}, ${LEDGER}`)),
    cpuS: () => postgresCpuS(postmaster),
    async close() {
      await client.end()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function measuredCopy(warehouse: Warehouse, path: string): Promise<Measured> {
  const cpuS = () => warehouse.cpuS() + endedChildrenCpuS()
  const [cpu, began] = [cpuS(), performance.now()]
  await psql(`\\copy ${BARE} from '${path}'`)
  const seconds = (performance.now() - began) / 1000
  return { seconds, cpu_s: cpuS() - cpu, peak_mb: null }
}

async function psql(command: string): Promise<void> {
  const args = ['-X', '-q', '-h', HOST, '-U', 'longshore', '-d', 'longshore', '-c', command]
  await promisify(execFile)('psql', args, { env: { PATH: process.env.PATH, PGSSLMODE: 'disable' } })
}

/** COPY text by DuckDB itself; of what has to be escaped there, events hold backslashes alone. */
function readySql({ project_id }: SampleStore, path: string): string {
  const escaped = (value: string) => `replace(${value}, '\\', '\\\\')`
  const part = (key: string) => escaped(`CAST(json_extract(properties, '$."${key}"') AS VARCHAR)`)
  const columns = [
    'uuid::VARCHAR',
    'event',
    escaped('properties::VARCHAR'),
    escaped('to_json(elements_chain)::VARCHAR'),
    part('$set'),
    part('$set_once'),
    'distinct_id',
    project_id,
    'p_ip',
    'NULL',
    `strftime(timestamp, '%Y-%m-%d %H:%M:%S.%f+00')`,
  ]
  return `COPY (SELECT ${columns.join(', ')} FROM ${tablesOf(project_id).events} ORDER BY seq)
    TO '${path}' (FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR '\\N')`
}

async function countPages({ sql }: Warehouse, table: string): Promise<number> {
  const { rows } = await sql(`SELECT pg_table_size('${table}') / 8192 AS pages`)
  return Number(rows[0]!.pages)
}

/** The same rows fill the same pages, but for the last ones of each statement. */
function assertAsLarge(bare: number, ours: number): void {
  if (Math.abs(bare / ours - 1) > 0.01) throw new Error(`bare has ${bare} pages, ours ${ours}`)
}

/** The same sum over the same values in both engines: rows, and what is in them. */
const sumOf = (values: string, number: (hex: string) => string) =>
  `SELECT count(*)::VARCHAR AS rows, sum(${number(`left(md5(concat_ws('|', ${values})), 12)`)})::VARCHAR AS sum`

async function storedContent(store: SampleStore): Promise<string> {
  const values = `uuid, event, distinct_id, epoch_us(timestamp), coalesce(p_session_id, '-'), coalesce(p_current_url, '-'), coalesce(p_ip, '-')`
  const select = sumOf(values, (hex) => `CAST(concat('0x', ${hex}) AS BIGINT)`)
  return onFiles(store, async (connection) => {
    const [row] = await (
      await connection.run(`${select} FROM ${tablesOf(store.project_id).events}`)
    ).getRowObjects()
    return JSON.stringify(row)
  })
}

async function tableContent({ sql }: Warehouse, table: string): Promise<string> {
  const property = (name: string) => `coalesce(properties->>'${name}', '-')`
  const micros = `(extract(epoch from timestamp) * 1000000)::bigint`
  const values = `uuid, event, distinct_id, ${micros}, ${property('$session_id')}, ${property('$current_url')}, coalesce(ip, '-')`
  const select = sumOf(values, (hex) => `('x' || lpad(${hex}, 16, '0'))::bit(64)::bigint`)
  const { rows } = await sql(`${select} FROM ${table}`)
  return JSON.stringify(rows[0])
}
