// The yardsticks: DuckDB alone, with a file of its own, or on the same files while no server has them open.
import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'
import { toStoredEvent } from '../../../src/features/events/pipeline/store-form.ts'
import { personOf } from './person.ts'
import type { PipelineEvent } from '../../../src/features/events/pipeline-event.ts'
import { decodeSection, encodeWrite } from '../../../src/platform/event-store/duckdb/journal/section.ts'
import { appendEvents, EVENT_COLUMNS } from '../../../src/platform/event-store/duckdb/segments/events.ts'
import { createTable } from '../../../src/platform/event-store/duckdb/segments/table.ts'
import type { StoreQuery } from '../../../src/platform/event-store/event-store.ts'
import { onProjectFiles } from '../../../test/harness/project-files.ts'

export type Cost = { cpu_us: number; wall_us: number }

/** Per event: rows that are ready, through the appender, so many to a commit. */
export async function bareInsert(
  folder: string,
  project_id: number,
  events: readonly PipelineEvent[],
  perCommit: number,
): Promise<Cost> {
  const stored = events.map((event) =>
    toStoredEvent(structuredClone(event), true, personOf(project_id, event.distinct_id)),
  )
  const batches = Array.from({ length: Math.ceil(stored.length / perCommit) }, (_, index) => {
    const part = stored.slice(index * perCommit, (index + 1) * perCommit)
    const write = { project_id, events: part, persons: [], deleted_persons: [], distinct_ids: [], groups: [] }
    const { bytes, count } = encodeWrite(write)
    const arrived = BigInt(Date.now()) * 1000n
    return {
      ...decodeSection(Buffer.from(bytes), count).events,
      seq: part.map((_, at) => index * perCommit + at + 1),
      inserted_at: BigInt64Array.from(part, () => arrived),
    }
  })
  const instance = await DuckDBInstance.create(join(folder, 'bare.duckdb'), OPTIONS)
  const connection = await instance.connect()
  await connection.run(createTable(TABLE, EVENT_COLUMNS))
  const cost = await measured(stored.length, async () => {
    for (const batch of batches) {
      await connection.run('BEGIN')
      await appendEvents(connection, TABLE, batch, { rows: 0, bytes: 0 })
      await connection.run('COMMIT')
    }
  })
  await connection.run(`DROP TABLE ${TABLE}`)
  connection.closeSync()
  instance.closeSync()
  return cost
}

const TABLE = 'bare'
const OPTIONS = { memory_limit: '1GB', threads: '2', checkpoint_threshold: '256MB' }

/** Per query: the SQL that the server ran, on a connection of its own, rows read to the end. */
export function bareQuery(
  folder: string,
  { project_id, sql, parameters }: StoreQuery,
  times: number,
): Promise<Cost> {
  return onProjectFiles(folder, project_id, OPTIONS, async (connection) => {
    // As the server has it, so that the two do the same work.
    await connection.run('SET late_materialization_max_rows = 5000')
    await connection.run('SET parquet_metadata_cache = true')
    const values = parameters.map((value) => (Number.isSafeInteger(value) ? BigInt(value) : value))
    const ask = async () => (await connection.run(sql, values)).getRowsJson()
    for (let warm = 0; warm < 5; warm++) await ask()
    return measured(times, async () => {
      for (let count = 0; count < times; count++) await ask()
    })
  })
}

async function measured(count: number, work: () => Promise<void>): Promise<Cost> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { cpu_us: (user + system) / count, wall_us: ((performance.now() - wall) * 1000) / count }
}
