// The suite of exports on DuckDB, and what is true of DuckDB alone.
// @module-tag slow
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreBusy, type Parameter } from '../event-store.ts'
import type { ColumnKind } from '../export-rows.ts'
import { exportSuite, type OpenedForExports, type ValueSpelling } from '../fixture/export-suite.ts'
import { plainRows } from '../fixture/plain-rows.ts'
import { positionSuite } from '../fixture/position-suite.ts'
import { readParquet } from '../fixture/read-parquet.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { tablesOf } from '../layout.ts'
import { planSql, readsInOrder } from './export-sql.ts'
import { openDuckDb } from './open.ts'
import { writeRows } from './rows-sql.ts'
import { Turns } from '../../../lib/turns.ts'

const options = { memory_mb: 256, query_timeout_ms: 1_500 }

const textLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`

const spell: ValueSpelling = {
  text: (text) => text.split('\0').map(textLiteral).join(' || chr(0) || '),
  repeated: (text, count) => `repeat(${textLiteral(text)}, ${count})`,
  whole: (digits) => digits,
  float: (value) => `CAST('${value}' AS DOUBLE)`,
  instant: (text) => `TIMESTAMP '${text}'`,
  day: (text) => `DATE '${text}'`,
  list: (items) => `[${items.join(', ')}]`,
  nullOf: (kind) => `CAST(NULL AS ${NULLS[kind]})`,
  placeholder: (number) => `$${number}`,
}

const NULLS: Record<ColumnKind, string> = {
  text: 'VARCHAR',
  json: 'VARCHAR',
  integer: 'BIGINT',
  float: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
}

async function open(): Promise<OpenedForExports> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
  let store = await openDuckDb({ folder, ...options })
  return {
    store,
    spell,
    async reopen() {
      await store.close()
      return (store = await openDuckDb({ folder, ...options }))
    },
    selectNames: (id) => `SELECT seq AS position, event AS c1 FROM ${tablesOf(id).events}`,
    selectValues: (rows) =>
      rows
        .map(([position, ...values]) =>
          [
            `SELECT ${position}::BIGINT AS position`,
            ...values.map((value, index) => `${value} AS c${index + 1}`),
          ].join(', '),
        )
        .join(' UNION ALL '),
    endless: `SELECT count(*) AS position, 'x' AS c1 FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = 7`,
    faulty: `SELECT range + 1 AS position, CAST(CAST('x' || range AS INTEGER) AS VARCHAR) AS c1 FROM range(3)`,
    staged: () => readdir(join(folder, 'staging')),
    readParquet,
    async dispose() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe('DuckDB', () => {
  positionSuite(open)
  exportSuite(open)
})

describe('the folder', () => {
  let folder: string
  const never = new AbortController().signal
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('of a store that was killed still holds arrivals back to the time that was asked for', async () => {
    const time = new Date('2026-03-01T12:00:00Z')
    const later = new Date(time.getTime() + 3_600_000)
    const store = await openDuckDb({ folder: join(folder, 'a'), ...options })
    await store.write([eventsOf(1, storedEvent())], time)
    expect(await store.positionAt(1, later)).toBe(1)
    // What a kill leaves: the files as they are, nothing closed.
    await cp(join(folder, 'a'), join(folder, 'b'), { recursive: true })
    await store.close()
    const again = await openDuckDb({ folder: join(folder, 'b'), ...options })
    const [written] = await again.write([eventsOf(1, storedEvent())], time)
    expect(written!.inserted_at).toBe(BigInt(later.getTime()) * 1000n)
    expect(await again.positionAt(1, later)).toBe(1)
    await again.close()
  })

  it('is not asked for more memory than the store has: an export says so, and the store goes on', async () => {
    const store = await openDuckDb({ folder, ...options, memory_mb: 64 })
    const columns = [{ name: 'text', kind: 'text' }] as const
    const huge = plainRows({
      sql: `SELECT 1::BIGINT AS position, array_agg(range)::VARCHAR AS c1 FROM range(30000000)`,
      columns,
    })
    const range = { from: 0, to: 10 }
    const results = await Promise.allSettled(
      [huge, huge].map((rows) => store.exportRows(rows, range, { kind: 'json-lines' }, never)),
    )
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringContaining('memory') },
      })
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(StoreBusy)
    }
    expect(await readdir(join(folder, 'staging'))).toEqual([])
    const small = plainRows({ sql: `SELECT 1::BIGINT AS position, 'x' AS c1`, columns })
    expect((await store.exportRows(small, range, { kind: 'json-lines' }, never)).rows).toBe(1)
    await store.close()
  })
})

describe('rows', () => {
  it('that are read off the events one after the other are not sorted, all others are', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
    const store = await openDuckDb({ folder, ...options })
    const { events, persons } = tablesOf(1)
    const plain = `SELECT seq AS position, event AS c1 FROM ${events}`
    const cases: [string, boolean][] = [
      [plain, true],
      [`${plain} WHERE seq > $1 AND event <> 'x' AND distinct_id LIKE 'user%'`, true],
      [
        `SELECT position, upper(r.c1) AS c1 FROM (${plain} WHERE json_extract(properties, '$.a') IS NULL) AS r`,
        true,
      ],
      [`SELECT row_number() OVER (ORDER BY id) AS position, 'x' AS c1 FROM ${persons}`, false],
      [`SELECT version AS position, 'x' AS c1 FROM ${persons}`, false],
      [`SELECT seq AS position, event AS c1 FROM ${tablesOf(2).events}`, false],
      [
        `SELECT e.seq AS position, e.event AS c1 FROM ${events} AS e JOIN ${persons} AS p ON p.id = e.person_id`,
        false,
      ],
      [`${plain} UNION ALL ${plain}`, false],
      [`SELECT 1 AS position, 'x' AS c1`, false],
    ]
    const ask = (project_id: number, sql: string, parameters: readonly Parameter[] = []) =>
      store.query({ project_id, sql, parameters, timezone: 'UTC', max_rows: 10 })
    await ask(2, 'SELECT 1')
    await store.write([eventsOf(1, storedEvent(), storedEvent())], new Date())
    for (const [sql, isInOrder] of cases) {
      const bound = sql.includes('$1') ? [1] : []
      const { rows } = await ask(1, planSql({ sql, parameters: [] }).sql, bound)
      expect(readsInOrder(rows[0]![1] as string), sql).toBe(isInOrder)
    }
    const times = plainRows({ sql: `SELECT seq AS position, timestamp AS c1 FROM ${events}`, columns: [] })
    const [early, late] = [
      { seq_from: 0, seq_to: 5 },
      { seq_from: 5, seq_to: 9 },
    ].map((positions) => ({
      ...positions,
      time_from: new Date(0),
      time_to: null,
    }))
    for (const areas of [[early!], [early!, late!]]) {
      const { sql, parameters } = planSql(writeRows({ ...times, source: { ...times.source, areas } }))
      const { rows } = await ask(1, sql, parameters)
      expect(readsInOrder(rows[0]![1] as string), sql).toBe(true)
    }
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
})

describe('turns', () => {
  it('go round the projects, and whoever leaves the line is passed over', async () => {
    const turns = new Turns<number, string>(['only'])
    const order: string[] = []
    const work = async (project_id: number, name: string, signal?: AbortSignal) => {
      const thing = await turns.take(project_id, signal)
      order.push(name)
      await Promise.resolve()
      turns.giveBack(thing)
    }
    const leave = new AbortController()
    const first = await turns.take(1)
    const all = Promise.all([
      work(1, 'a1'),
      work(1, 'a2'),
      work(1, 'a3'),
      work(2, 'b1'),
      expect(work(2, 'b2', leave.signal)).rejects.toThrow('gone'),
      work(2, 'b3'),
      expect(work(3, 'c1', leave.signal)).rejects.toThrow('gone'),
    ])
    leave.abort(new Error('gone'))
    turns.giveBack(first)
    await all
    expect(order).toEqual(['a1', 'b1', 'a2', 'b3', 'a3'])
    expect(await turns.take(9)).toBe('only')
  })
})
