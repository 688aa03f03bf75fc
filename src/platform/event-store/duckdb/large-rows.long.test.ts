// Texts of a megabyte in a store with little memory: they are taken in, changed and read all the same.
import { DuckDBInstance } from '@duckdb/node-api'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Copies, EventStore, ExportFormat } from '../event-store.ts'
import { plainRows } from '../fixture/plain-rows.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { tablesOf } from '../layout.ts'
import { openDuckDb } from './open.ts'
import { projectFolder, readManifest, type CopyKind } from './segments/manifest.ts'
import { readParquet } from './segments/parquet.ts'

const { events, persons, groups } = tablesOf(1)
const letters = randomBytes(1_500_000).toString('base64')
const propertiesOf = (n: number) => `{"n":${n},"text":"${letters.slice(n * 1000, n * 1000 + 900_000)}"}`
const never = () => new AbortController().signal
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

let folder: string
let store: EventStore
const open = async () => void (store = await openDuckDb({ folder, memory_mb: 96, query_timeout_ms: 60_000 }))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
  await open()
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

async function restart(): Promise<void> {
  await store.close()
  await open()
}

const ask = async (sql: string) =>
  (await store.query({ project_id: 1, sql, parameters: [], timezone: 'UTC', max_rows: 1000 })).rows

/** What the files have, empty rows and all: rows, and bytes of their properties. */
async function rowsInFiles(kind: CopyKind) {
  const files = readManifest(folder, 1).copies[kind].map(({ file }) => join(projectFolder(folder, 1), file))
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const sql = `SELECT count(*)::INT, sum(strlen(properties))::INT FROM ${readParquet(files)}`
  return (await connection.run(sql)).getRows()
}

const writeCopies = (copies: Partial<Copies>) =>
  store.write([{ ...eventsOf(1, storedEvent()), ...copies }], new Date())

describe('texts of a megabyte in little memory', () => {
  it('of events are there, in order, over restarts', async () => {
    const write = async (first: number, last: number) => {
      for (let n = first; n <= last; n += 10) {
        const large = numbers(n, n + 9).map((each) => storedEvent({ properties: propertiesOf(each) }))
        await store.write([eventsOf(1, storedEvent(), ...large)], new Date())
      }
    }
    await write(1, 80)
    await restart()
    await write(81, 160)
    expect(await store.lastPosition(1)).toBe(176)
    expect(await ask(`SELECT count(*), count(DISTINCT seq), min(seq), max(seq) FROM ${events}`)).toEqual([
      [176, 176, 1, 176],
    ])
    expect(
      await ask(`SELECT md5(properties) FROM ${events} WHERE strlen(properties) > 1000 ORDER BY seq`),
    ).toEqual(numbers(1, 160).map((n) => [md5(propertiesOf(n))]))
  })

  it('of events are exported to Parquet in order, in row groups that a small machine can read', async () => {
    for (let n = 1; n <= 160; n += 10) {
      const large = numbers(n, n + 9).map((each) => storedEvent({ properties: propertiesOf(each) }))
      await store.write([eventsOf(1, ...large)], new Date())
    }
    const rows = plainRows({
      sql: `SELECT seq AS position, seq AS c1, properties AS c2 FROM ${events}`,
      columns: [
        { name: 'n', kind: 'integer' },
        { name: 'properties', kind: 'text' },
      ],
    })
    const block = { from: 0, to: 160, rows: 160 }
    // Nothing is weighed: the engine ends row groups by itself.
    expect(await store.cutForParquet(rows, block, never())).toEqual([block])
    const staged = await Promise.all(
      ['zstd', 'snappy'].map((compression) =>
        store.exportRows(rows, block, { kind: 'parquet', compression } as ExportFormat, never()),
      ),
    )
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    const read = async (sql: string) => (await connection.run(sql)).getRows()
    for (const { path } of staged) {
      expect(await read(`SELECT n::INT, md5(properties) FROM ${readParquet([path])}`)).toEqual(
        numbers(1, 160).map((n) => [n, md5(propertiesOf(n))]),
      )
      const [largest] = await read(
        `SELECT max(total_uncompressed_size)::INT FROM parquet_metadata('${path}') WHERE path_in_schema = 'properties'`,
      )
      expect(largest![0]).toBeLessThan(24 * 1024 * 1024)
    }
  })

  it('of persons are there as they were written last, and leave no row behind', async () => {
    const ids = numbers(0, 149).map(() => randomUUID())
    const write = async (first: number, last: number, version: number, textOf: (n: number) => string) => {
      for (let n = first; n <= last; n += 10) {
        const changed = numbers(n, n + 9).map((each) => ({
          id: ids[each]!,
          created_at: BigInt(each),
          is_identified: true,
          properties: textOf(each),
          version,
        }))
        await writeCopies({ persons: changed })
      }
    }
    await write(0, 149, 1, propertiesOf)
    await restart()
    await write(50, 99, 2, (n) => propertiesOf(n + 1))
    const read = await ask(`SELECT id, md5(properties) FROM ${persons} ORDER BY created_at`)
    expect(read).toEqual(ids.map((id, n) => [id, md5(propertiesOf(n >= 50 && n < 100 ? n + 1 : n))]))
    await write(0, 99, 3, (n) => `{"n":${n}}`)
    await writeCopies({ deleted_persons: ids.slice(100) })
    await restart()
    expect(await ask(`SELECT count(*) FROM ${persons}`)).toEqual([[100]])
    expect(await rowsInFiles('persons')).toEqual([
      [100, numbers(0, 99).reduce((sum, n) => sum + `{"n":${n}}`.length, 0)],
    ])
  })

  it('of groups likewise', async () => {
    const write = async (textOf: (n: number) => string) => {
      for (let n = 0; n < 120; n += 10) {
        const keys = numbers(n, n + 9)
        await writeCopies({
          groups: keys.map((each) => ({
            index: 1,
            key: String(each),
            created_at: BigInt(each),
            properties: textOf(each),
          })),
        })
      }
    }
    await write(propertiesOf)
    await restart()
    expect(await ask(`SELECT key, md5(properties) FROM ${groups} ORDER BY created_at`)).toEqual(
      numbers(0, 119).map((n) => [String(n), md5(propertiesOf(n))]),
    )
    await write(() => '{}')
    expect(await ask(`SELECT count(*) FROM ${groups}`)).toEqual([[120]])
    expect(await rowsInFiles('groups')).toEqual([[120, 240]])
  })
})
