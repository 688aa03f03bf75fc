// The event store on ClickHouse: events lie there, who may store them at which position is decided in PostgreSQL.
import type { Database } from '../../db/database.ts'
import { ProjectGone, StoreGone, type EventStore } from '../event-store.ts'
import { Leases } from '../leases.ts'
import type { ClickHouse } from './client.ts'
import { openExports } from './exports/exports.ts'
import { OwedCopies } from './owed-copies.ts'
import { Positions } from './positions.ts'
import { Queries, type QueryLimits } from './queries.ts'
import { TABLES } from './tables.ts'
import { visibleEvents } from './visible-sql.ts'
import { Writer } from './writer.ts'

export type StoreParts = {
  clickhouse: ClickHouse
  db: Database
  /** Where files of exports are written. */
  staging: string
  limits: QueryLimits
  /** For storing one batch. */
  write_limit_ms?: number
  onClosed(): Promise<void>
}

const micros = (time: Date) => BigInt(time.getTime()) * 1000n

export function storeOf(parts: StoreParts): EventStore {
  const { clickhouse, db, staging, limits, onClosed } = parts
  const owed = new OwedCopies(db)
  const positions = new Positions(db, owed)
  const writer = new Writer(clickhouse, positions, parts.write_limit_ms)
  const queries = new Queries(clickhouse, limits)
  const readers = new Leases()
  let is_closed = false
  let writing: Promise<unknown> = Promise.resolve()

  const assertOpen = () => {
    if (is_closed) throw new StoreGone('the event store is closed')
  }
  /** Nothing can be seen of a project that was deleted. */
  const seen = async (project_id: number) => {
    const { end, hidden } = (await positions.visible(project_id)) ?? { end: 0, hidden: [] }
    return { visible_end: end, hidden }
  }
  const exports = openExports({
    clickhouse,
    staging,
    query_timeout_ms: limits.timeout_ms,
    async visible(project_id) {
      assertOpen()
      if ((await positions.visible(project_id)) === null) throw new ProjectGone('the project was deleted')
      return await seen(project_id)
    },
  })
  /** A value of each event of the project that meets the condition. */
  const ofEvents = async (project_id: number, what: string, where: string, named: Record<string, unknown>) =>
    await clickhouse.rows({
      sql: `SELECT ${what} FROM ${visibleEvents('{project:Int64}')} WHERE ${where}`,
      parameters: [],
      named: { project: project_id, ...(await seen(project_id)), ...named },
    })

  let closed: Promise<void> | undefined
  const end = async () => {
    is_closed = true
    await writing
    await exports.close()
    await clickhouse.close()
    await onClosed()
  }

  return {
    engine: 'clickhouse',
    is_shared: true,
    // One after another: the next batch is made ready meanwhile.
    write(writes, now, copied = null) {
      const written = writing.then(async () => {
        assertOpen()
        return await writer.write(writes, micros(now), copied)
      })
      writing = written.catch(() => undefined)
      return written
    },
    // What it has already is found with the write.
    lookUp: (_, events) => Promise.resolve({ events, end() {} }),
    // Questions read what was inserted.
    caughtUp: async () => undefined,
    async query(query, signal) {
      assertOpen()
      const { project_id } = query
      return await readers.read(project_id, async () => queries.query(query, await seen(project_id), signal))
    },
    async positionAt(project_id, time) {
      assertOpen()
      await positions.raiseTime(project_id, micros(time))
      const [found] = await ofEvents(
        project_id,
        'max(seq)',
        'inserted_at < fromUnixTimestamp64Micro({time:Int64})',
        { time: micros(time) },
      )
      return Number(found![0])
    },
    async lastPosition(project_id) {
      assertOpen()
      return (await seen(project_id)).visible_end
    },
    async holes(project_id) {
      assertOpen()
      return await positions.holes(project_id)
    },
    async arrivalsOf(project_id, asked) {
      assertOpen()
      const found = await ofEvents(
        project_id,
        'seq, toUnixTimestamp64Milli(inserted_at)',
        'seq IN {positions:Array(Int64)}',
        { positions: asked },
      )
      const times = new Map(found.map(([seq, ms]) => [Number(seq), new Date(Number(ms))]))
      return asked.map((position) => times.get(position) ?? null)
    },
    measureAreas: (events, areas, signal) => exports.measureAreas(events, areas, signal),
    countBlocks: (rows, block_size, signal) => exports.countBlocks(rows, block_size, signal),
    cutRows: (rows, range, max_rows, signal) => exports.cutRows(rows, range, max_rows, signal),
    cutForParquet: (rows, block, signal) => exports.cutForParquet(rows, block, signal),
    exportRows: (rows, range, format, signal) => exports.exportRows(rows, range, format, signal),
    lastRows: (rows, count) => exports.lastRows(rows, count),
    findCutTexts: (rows) => exports.findCutTexts(rows),
    async ping() {
      assertOpen()
      await clickhouse.rows({ sql: 'SELECT 1', parameters: [] })
    },
    oweCopies: (tx, range) => owed.owe(tx, range),
    async missingCopies() {
      assertOpen()
      return await owed.claim()
    },
    giveUpCopies: (ranges) => owed.giveUp(ranges),
    async deleteProject(project_id) {
      await new Promise<void>((resolve) => readers.afterReaders(project_id, resolve))
      await positions.deleteProject(project_id)
      for (const table of TABLES) {
        await clickhouse.command(`DELETE FROM ${table} WHERE project_id = ${Number(project_id)}`)
      }
    },
    close: () => (closed ??= end()),
  }
}
