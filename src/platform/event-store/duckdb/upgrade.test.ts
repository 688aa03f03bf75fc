// A store of the former kind, tables in a DuckDB file, is carried over when it is opened: positions, times and all.
// @module-tag slow
import { DuckDBInstance } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventStore } from '../event-store.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { HOT_PROPERTIES, hotColumn } from '../layout.ts'
import { openDuckDb } from './open.ts'
import { projectFolder } from './segments/manifest.ts'

const EVENTS = 20_000
const PERSON = '018f0000-0000-7000-8000-000000000001'

let folder: string
let store: EventStore | undefined
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))))
afterEach(async () => {
  await store?.close()
  store = undefined
  await rm(folder, { recursive: true, force: true })
})

const open = async () => (store = await openDuckDb({ folder, memory_mb: 256, query_timeout_ms: 30_000 }))
const ask = async (sql: string, project_id = 3) =>
  (await store!.query({ project_id, sql, parameters: [], timezone: 'UTC', max_rows: 10 })).rows

/** As the last version that had one wrote it, with one empty row and a project that was deleted. */
async function makeOldFile(version = 4): Promise<void> {
  const hot = HOT_PROPERTIES.map((property) => `${hotColumn(property)} VARCHAR`).join(', ')
  const instance = await DuckDBInstance.create(join(folder, 'events.duckdb'))
  const connection = await instance.connect()
  const statements = [
    `CREATE TABLE store_version AS SELECT ${version}::BIGINT AS version`,
    "CREATE TABLE store_state AS SELECT 77::BIGINT AS copies_position, TIMESTAMP '2026-03-01 12:00:00' AS inserted_at",
    'CREATE TABLE deleted_project AS SELECT 9::BIGINT AS id',
    `CREATE TABLE er_3 (seq BIGINT, inserted_at TIMESTAMP, uuid UUID, event VARCHAR, distinct_id VARCHAR,
      timestamp TIMESTAMP, created_at TIMESTAMP, elements_chain VARCHAR, person_mode UTINYINT, person_id UUID,
      person_properties VARCHAR, properties VARCHAR, ${hot})`,
    `INSERT INTO er_3 SELECT n, TIMESTAMP '2026-02-01' + to_seconds(n // 100), md5(n::VARCHAR)::UUID, 'event ' || n, 'ann',
      TIMESTAMP '2026-01-01' + to_microseconds(n), TIMESTAMP '2026-02-01', '', 0, ${`CASE WHEN n > 5 THEN UUID '${PERSON}' END`},
      '{}', '{"n":' || n || '}', 'Firefox' ${', NULL'.repeat(HOT_PROPERTIES.length - 1)} FROM range(1, ${EVENTS + 1}) AS t(n)`,
    `INSERT INTO er_3 SELECT * REPLACE (2 AS person_mode, '' AS properties) FROM er_3 WHERE seq = ${EVENTS}`,
    'CREATE VIEW ev_3 AS SELECT * FROM er_3 WHERE person_mode < 2',
    `CREATE TABLE pe_3 AS SELECT UUID '${PERSON}' AS id, TIMESTAMP '2025-01-01' AS created_at, true AS is_identified,
      '{"a":1}' AS properties, 4::BIGINT AS version, TIMESTAMP '2026-02-03' AS changed_at`,
    `CREATE TABLE di_3 AS SELECT 'ann' AS distinct_id, UUID '${PERSON}' AS person_id, 5::BIGINT AS version,
      TIMESTAMP '2026-02-04' AS changed_at`,
    `CREATE TABLE gr_3 AS SELECT 1::UTINYINT AS index, 'acme' AS key, TIMESTAMP '2025-01-02' AS created_at,
      '{"b":2}' AS properties`,
  ]
  for (const sql of statements) await connection.run(sql)
  connection.closeSync()
  instance.closeSync()
}

describe('a store of the former kind', () => {
  it('keeps its events, copies and state, and goes on', async () => {
    await makeOldFile()
    // What a process left that was killed while it carried the store over.
    await mkdir(projectFolder(folder, 3), { recursive: true })
    await writeFile(join(projectFolder(folder, 3), 'manifest.json'), 'half')
    await open()
    expect(existsSync(join(folder, 'events.duckdb'))).toBe(false)
    expect(await store!.lastPosition(3)).toBe(EVENTS)
    expect(await store!.missingCopies()).toMatchObject({ after: 77n })
    expect(
      await ask(`SELECT count(*), count(DISTINCT seq), min(seq), max(seq), count(person_id), bool_and(event = 'event ' || seq),
        bool_and(properties = '{"n":' || seq || '}'), bool_and(p_browser = 'Firefox'),
        bool_and(timestamp = TIMESTAMP '2026-01-01' + to_microseconds(seq)) FROM ev_3`),
    ).toEqual([[EVENTS, EVENTS, 1, EVENTS, EVENTS - 5, true, true, true, true]])
    expect(await store!.arrivalsOf(3, [1, 250, EVENTS])).toEqual(
      [0, 2, 200].map((seconds) => new Date(Date.parse('2026-02-01T00:00:00Z') + seconds * 1000)),
    )
    expect(await ask('SELECT id, properties, version, changed_at FROM pe_3')).toEqual([
      [PERSON, '{"a":1}', 4, '2026-02-03T00:00:00Z'],
    ])
    expect(await ask('SELECT distinct_id, version, changed_at FROM di_3')).toEqual([
      ['ann', 5, '2026-02-04T00:00:00Z'],
    ])
    expect(await ask('SELECT index, key, properties FROM gr_3')).toEqual([[1, 'acme', '{"b":2}']])
    const early = new Date('2026-02-20T00:00:00Z')
    const written = await store!.write([eventsOf(3, storedEvent()), eventsOf(9, storedEvent())], early)
    expect(written).toMatchObject([{ project_id: 3, last_seq: EVENTS + 1 }])
    expect(written[0]!.inserted_at).toBe(BigInt(Date.parse('2026-03-01T12:00:00Z')) * 1000n)
  })

  it('of a form that is not known is refused and left alone', async () => {
    await makeOldFile(3)
    await expect(open()).rejects.toThrow('start the version before this one once')
    expect(existsSync(join(folder, 'events.duckdb'))).toBe(true)
  })
})
