// The yardsticks: DuckDB alone, on the same file, while no server has it open.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { join } from 'node:path'
import { toStoredEvent } from '../../../src/features/events/pipeline/store-form.ts'
import { personOf } from './person.ts'
import type { PipelineEvent } from '../../../src/features/events/pipeline-event.ts'
import { appendEvents } from '../../../src/platform/event-store/duckdb/append.ts'
import { toColumns } from '../../../src/platform/event-store/duckdb/columns.ts'
import type { StoreQuery } from '../../../src/platform/event-store/event-store.ts'
import { tablesOf } from '../../../src/platform/event-store/layout.ts'

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
    return toColumns(write).events
  })
  return onFile(folder, async (connection) => {
    const { event_rows: table } = tablesOf(project_id)
    const [row] = await (await connection.run(`SELECT coalesce(max(seq), 0) FROM ${table}`)).getRows()
    let seq = Number(row![0])
    return measured(stored.length, async () => {
      for (const batch of batches) {
        await connection.run('BEGIN')
        await appendEvents(
          connection,
          table,
          batch,
          [...batch.uuid.keys()],
          seq + 1,
          BigInt(Date.now()) * 1000n,
        )
        await connection.run('COMMIT')
        seq += batch.uuid.length
      }
    })
  })
}

/** Per query: the SQL that the server ran, on a connection of its own, rows read to the end. */
export function bareQuery(folder: string, { sql, parameters }: StoreQuery, times: number): Promise<Cost> {
  return onFile(folder, async (connection) => {
    const values = parameters.map((value) => (Number.isSafeInteger(value) ? BigInt(value) : value))
    const ask = async () => (await connection.run(sql, values)).getRowsJson()
    for (let warm = 0; warm < 5; warm++) await ask()
    return measured(times, async () => {
      for (let count = 0; count < times; count++) await ask()
    })
  })
}

async function onFile<T>(folder: string, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  const options = { memory_limit: '1GB', threads: '2', checkpoint_threshold: '256MB' }
  const instance = await DuckDBInstance.create(join(folder, 'events/events.duckdb'), options)
  const connection = await instance.connect()
  // As the server has it, so that the two do the same work.
  await connection.run('SET late_materialization_max_rows = 5000')
  try {
    return await work(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function measured(count: number, work: () => Promise<void>): Promise<Cost> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { cpu_us: (user + system) / count, wall_us: ((performance.now() - wall) * 1000) / count }
}
