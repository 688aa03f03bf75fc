// ClickHouse as one side of a move. Its rows count by what PostgreSQL says, here as everywhere.
import { randomUUID } from 'node:crypto'
import type { Database } from '../../../db/database.ts'
import { MOVED_COLUMNS, type CopyKind } from '../../moving/columns.ts'
import type { MoveSide } from '../../moving/side.ts'
import { openClickHouse, type ClickHouse, type ClickHouseOptions } from '../client.ts'
import { holdAlone } from '../in-use.ts'
import { OwedCopies } from '../owed-copies.ts'
import { Positions } from '../positions.ts'
import { TABLES } from '../tables.ts'
import { upgradeClickHouse } from '../upgrade.ts'
import { distinctIds, groups, livingPersons, visibleEvents } from '../visible-sql.ts'
import {
  commitBatch,
  copiesPosition,
  findHead,
  finishHead,
  forgetAll,
  hideBatch,
  insertHead,
  keepCopiesPosition,
  listHeads,
  listOpenBatches,
} from './progress.ts'
import { BLOCKS, digestSql, insertedRow, readRow, selectMoved, type Moved } from './rows.ts'

const PROJECT = '{project:Int64}'
const COPIES: Readonly<Record<CopyKind, { table: string; visible: string; also: readonly string[] }>> = {
  persons: { table: 'persons', visible: livingPersons(PROJECT), also: ['change', 'is_deleted'] },
  distinct_ids: { table: 'person_distinct_ids', visible: distinctIds(PROJECT), also: ['change'] },
  groups: { table: 'groups', visible: groups(PROJECT), also: ['change'] },
}
const namesOf = (kind: Moved) => MOVED_COLUMNS[kind].map(([name]) => name)

/** Throws StoreTaken while a server is at work in it. */
export async function openClickHouseSide(options: ClickHouseOptions & { db: Database }): Promise<MoveSide> {
  const { db } = options
  const alone = await holdAlone(db)
  const clickhouse = openClickHouse(options)
  const close = async () => {
    await clickhouse.close()
    await alone.release()
  }
  try {
    await upgradeClickHouse(clickhouse, db)
    // A server that was killed may have left some; they end with their lease.
    await positionsOf(db).settled(await listOpenBatches(db))
  } catch (error) {
    await close()
    throw error
  }
  return sideOf(clickhouse, db, close)
}

const positionsOf = (db: Database) => new Positions(db, new OwedCopies(db))

function sideOf(clickhouse: ClickHouse, db: Database, close: () => Promise<void>): MoveSide {
  const positions = positionsOf(db)
  const seen = async (project_id: number) => {
    const { end, hidden } = (await positions.visible(project_id)) ?? { end: 0, hidden: [] }
    return { project: project_id, visible_end: end, hidden }
  }
  const ask = (sql: string, named: Record<string, unknown>) => clickhouse.rows({ sql, parameters: [], named })

  async function* stream(kind: Moved, sql: string, named: Record<string, unknown>) {
    // Memory goes by the rows of a block, which may be large.
    const settings = { max_block_size: '2048' }
    // The first two rows are names and types.
    let heads = 2
    for await (const page of await clickhouse.answer({ sql, parameters: [], named }, { settings })) {
      const rows = page.slice(heads)
      heads -= page.length - rows.length
      yield rows.map((row) => readRow(kind, row))
    }
  }

  return {
    engine: 'clickhouse',
    async isEmpty() {
      // A server that was started here without events has copied persons. They are replaced where they differ.
      const [row] = await ask('SELECT count() FROM events', {})
      return Number(row![0]) === 0
    },
    state: async () => ({
      deleted: await listHeads(db, true),
      copies_position: await copiesPosition(db),
    }),
    projects: () => listHeads(db, false),
    project: async (project_id) => ({
      ...(await findHead(db, project_id)),
      holes: await positions.holes(project_id),
    }),
    async *events(project_id, after) {
      const sql = `${selectMoved('events')} FROM ${visibleEvents(PROJECT)} WHERE seq > {after:Int64} ORDER BY seq`
      yield* stream('events', sql, { ...(await seen(project_id)), after })
    },
    copies: (project_id, kind) =>
      stream(kind, `${selectMoved(kind)} FROM ${COPIES[kind].visible}`, { project: project_id }),
    async digestEvents(project_id) {
      const sql = `${BLOCKS.select} FROM ${visibleEvents(PROJECT)} ${BLOCKS.order}`
      const found = await ask(sql, await seen(project_id))
      return found.map(([block, first, last, count, sum]) => ({
        block: Number(block),
        first: Number(first),
        last: Number(last),
        rows: Number(count),
        sum: String(sum),
      }))
    },
    async digestCopies(project_id, kind) {
      const sql = `SELECT ${digestSql(kind)} FROM ${COPIES[kind].visible}`
      const [row] = await ask(sql, { project: project_id })
      return { rows: Number(row![0]), sum: String(row![1]) }
    },
    begin: () => forgetAll(db),
    prepare: (project_id) => insertHead(db, project_id),
    lastMoved: async (project_id) => (await findHead(db, project_id)).last_position,
    async addEvents(project_id, rows) {
      const batch = randomUUID()
      await hideBatch(db, project_id, batch)
      await clickhouse.insert({
        table: 'events',
        columns: ['project_id', 'batch', ...namesOf('events')],
        rows: rows.map((row) => [project_id, batch, ...insertedRow('events', row)]),
        token: batch,
      })
      await commitBatch(db, project_id, batch, Number(rows.at(-1)![0]))
    },
    async removeCopies(project_id) {
      for (const { table } of Object.values(COPIES))
        await clickhouse.command(`DELETE FROM ${table} WHERE project_id = ${Number(project_id)}`)
    },
    async addCopies(project_id, kind, rows, change) {
      const { table, also } = COPIES[kind]
      const rest = [String(change), 0].slice(0, also.length)
      await clickhouse.insert({
        table,
        columns: ['project_id', ...namesOf(kind), ...also],
        rows: rows.map((row) => [project_id, ...insertedRow(kind, row), ...rest]),
        token: randomUUID(),
      })
    },
    finishProject: (project_id, state) => finishHead(db, project_id, state),
    async finish({ deleted, copies_position }) {
      for (const project_id of deleted) {
        await positions.deleteProject(project_id)
        for (const table of TABLES)
          await clickhouse.command(`DELETE FROM ${table} WHERE project_id = ${Number(project_id)}`)
      }
      await keepCopiesPosition(db, copies_position)
    },
    close,
  }
}
