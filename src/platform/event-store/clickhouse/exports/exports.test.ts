// The suites of exports and positions on ClickHouse, and that rows give the same bytes however many threads write them.
import type { ClickHouseSettings } from '@clickhouse/client'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ExportFormat } from '../../event-store.ts'
import type { ColumnKind } from '../../export-rows.ts'
import { exportSuite, type OpenedForExports, type ValueSpelling } from '../../fixture/export-suite.ts'
import { plainRows } from '../../fixture/plain-rows.ts'
import { positionSuite } from '../../fixture/position-suite.ts'
import { readParquet } from '../../fixture/read-parquet.ts'
import { eventsOf, storedEvent } from '../../fixture/suite.ts'
import { CLICKHOUSE_ADDRESS } from '../../../../../test/harness/clickhouse.ts'
import type { ClickHouse } from '../client.ts'
import { openTestStore, type TestStore } from '../fixture/store.ts'
import { visibleEvents } from '../visible-sql.ts'
import { openExports } from './exports.ts'
import { textLiteral } from './spelling.ts'

const TYPES: Record<ColumnKind, string> = {
  text: 'String',
  json: 'String',
  integer: 'Int64',
  float: 'Float64',
  boolean: 'Bool',
  timestamp: `DateTime64(6, 'UTC')`,
}

const micros = (text: string) => {
  const [to_seconds, fraction = ''] = text.split('.')
  return BigInt(Date.parse(`${to_seconds!.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

const spell: ValueSpelling = {
  text: textLiteral,
  // A million times at most.
  repeated(text, count) {
    const times = (sql: string, number: number) => `repeat(${sql}, ${number})`
    const [whole, rest] = [Math.floor(count / 1024), count % 1024]
    return `concat(${times(times(textLiteral(text), 1024), whole)}, ${times(textLiteral(text), rest)})`
  },
  whole: (digits) => `toInt64(${digits})`,
  float: (value) => `toFloat64('${value}')`,
  instant: (text) => `fromUnixTimestamp64Micro(${micros(text)}, 'UTC')`,
  day: (text) => `toDate('${text}')`,
  list: (items) => `[${items.join(', ')}]`,
  nullOf: (kind) => `CAST(NULL AS Nullable(${TYPES[kind]}))`,
  placeholder: (number, value) => `{p${number}:${typeof value === 'string' ? 'String' : 'Int64'}}`,
}

async function open(): Promise<OpenedForExports & TestStore> {
  return {
    ...(await openTestStore(60_000)),
    spell,
    selectNames: (id) => `SELECT seq AS position, event AS c1 FROM ${visibleEvents(String(id))}`,
    selectValues(rows) {
      const parts = rows[0]!.map((_, index) => `v.${index + 1} AS ${index === 0 ? 'position' : `c${index}`}`)
      const tuples = rows.map(
        ([position, ...values]) => `(${[`toInt64(${position})`, ...values].join(', ')})`,
      )
      return `SELECT ${parts.join(', ')} FROM (SELECT arrayJoin([${tuples.join(', ')}]) AS v)`
    },
    endless: `SELECT toInt64(max(cityHash64(number)) % 10) AS position, 'x' AS c1 FROM system.numbers`,
    faulty: `SELECT toInt64(number) + 1 AS position, toString(toInt32(concat('x', toString(number)))) AS c1 FROM numbers(3)`,
    readParquet,
  }
}

describe.skipIf(CLICKHOUSE_ADDRESS === null)('ClickHouse', () => {
  positionSuite(open)
  exportSuite(open)

  it('writes the same bytes whatever parts the rows lie in, with one thread and with two', async () => {
    const { store, clickhouse, selectNames, dispose } = await open()
    const some = () => Array.from({ length: 3_000 }, (_, index) => storedEvent({ event: `e${index % 700}` }))
    for (let part = 0; part < 3; part++) await store.write([eventsOf(1, ...some())], new Date())
    const rows = plainRows({ sql: selectNames(1), columns: [{ name: 'event', kind: 'text' }] })
    const staging = await mkdtemp(join(tmpdir(), 'longshore-same-bytes-'))
    const bytesWith = async (max_threads: number, format: ExportFormat) => {
      const exports = openExports({
        clickhouse: withSettings(clickhouse, { ...IN_SMALL_BLOCKS, max_threads }),
        staging,
        visible: async () => ({ visible_end: 9_000, hidden: [] }),
      })
      const range = { from: 10, to: 8_990 }
      const file = await exports.exportRows(rows, range, format, new AbortController().signal)
      expect(file.rows).toBe(8_980)
      return await readFile(file.path, 'base64')
    }
    const bytes = async () => {
      const written = []
      for (const format of FORMATS)
        written.push([await bytesWith(1, format), await bytesWith(2, format)] as const)
      return written
    }
    const before = await bytes()
    for (const [with_one, with_two] of before) expect(with_two).toBe(with_one)
    await clickhouse.command('OPTIMIZE TABLE events FINAL')
    expect(await bytes()).toEqual(before)
    await rm(staging, { recursive: true })
    await dispose()
  })
})

const FORMATS: readonly ExportFormat[] = [
  { kind: 'parquet', compression: 'zstd' },
  { kind: 'parquet', compression: 'none' },
  { kind: 'json-lines' },
]

/** Without these the rows of a test are too few for a second thread. */
const IN_SMALL_BLOCKS: ClickHouseSettings = {
  merge_tree_min_rows_for_concurrent_read: '1',
  merge_tree_min_bytes_for_concurrent_read: '1',
  max_block_size: '500',
}

function withSettings(clickhouse: ClickHouse, settings: ClickHouseSettings): ClickHouse {
  return {
    ...clickhouse,
    bytes: (statement, options) =>
      clickhouse.bytes(statement, { ...options, settings: { ...options?.settings, ...settings } }),
  }
}
