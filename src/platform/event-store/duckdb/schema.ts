// The tables in the file, and how a file of an earlier version becomes one of this version.
import type { DuckDBConnection } from '@duckdb/node-api'
import { HOT_PROPERTIES, hotColumn, tablesOf } from '../layout.ts'
import { EMPTY_MODE, IS_COPY } from './vectors.ts'

/** Takes a file from the version before to the next; the first makes the tables that are there once. */
export type Migration = {
  once?: readonly string[]
  /** For each project that has tables. */
  perProject?(project_id: number): readonly string[]
}

const MIGRATIONS: readonly Migration[] = [
  {
    once: [
      'CREATE TABLE store_state (copies_position BIGINT NOT NULL, inserted_at TIMESTAMP NOT NULL)',
      "INSERT INTO store_state VALUES (0, TIMESTAMP '1970-01-01')",
      // Ids are never given twice, so what was deleted once stays away, whoever still writes for it.
      'CREATE TABLE deleted_project (id BIGINT NOT NULL)',
    ],
  },
  { perProject: addPersonsToEvents },
  { perProject: putEventsBehindView },
  { perProject: putCopiesBehindViews },
]

/** Events carry their person since exports hand it on: those stored before get what is known of it today. */
function addPersonsToEvents(project_id: number): string[] {
  const { events, persons, distinct_ids } = tablesOf(project_id)
  const hot = HOT_PROPERTIES.map(hotColumn).join(', ')
  const old = `${events}_old`
  return [
    `ALTER TABLE ${persons} ADD COLUMN version BIGINT DEFAULT 0`,
    `ALTER TABLE ${persons} ADD COLUMN changed_at TIMESTAMP DEFAULT TIMESTAMP '1970-01-01'`,
    `ALTER TABLE ${distinct_ids} ADD COLUMN version BIGINT DEFAULT 0`,
    `ALTER TABLE ${distinct_ids} ADD COLUMN changed_at TIMESTAMP DEFAULT TIMESTAMP '1970-01-01'`,
    `ALTER TABLE ${events} RENAME TO ${old}`,
    createEventRows(events),
    // In order of position, as everything that is written and exported later relies on.
    `INSERT INTO ${events}
      SELECT e.seq, e.inserted_at, e.uuid, e.event, e.distinct_id, e.timestamp, e.created_at, e.elements_chain,
        e.person_mode, p.id, coalesce(p.properties, '{}'), e.properties, ${hot}
      FROM ${old} AS e
      LEFT JOIN ${distinct_ids} AS d ON d.distinct_id = e.distinct_id AND e.person_mode = 0
      LEFT JOIN ${persons} AS p ON p.id = d.person_id
      ORDER BY e.seq`,
    `DROP TABLE ${old}`,
  ]
}

/** Large events lie between empty rows since then. */
function putEventsBehindView(project_id: number): string[] {
  const { events, event_rows } = tablesOf(project_id)
  return [`ALTER TABLE ${events} RENAME TO ${event_rows}`, createEvents(project_id)]
}

/** So do persons and groups; those stored before get there as they change. */
function putCopiesBehindViews(project_id: number): string[] {
  const { persons, person_rows, groups, group_rows } = tablesOf(project_id)
  return [
    `ALTER TABLE ${persons} RENAME TO ${person_rows}`,
    `ALTER TABLE ${groups} RENAME TO ${group_rows}`,
    ...createCopies(project_id),
  ]
}

function createCopies(project_id: number): string[] {
  const { persons, person_rows, groups, group_rows } = tablesOf(project_id)
  return [
    [persons, person_rows],
    [groups, group_rows],
  ].map(([view, rows]) => `CREATE VIEW ${view} AS SELECT * FROM ${rows} WHERE ${IS_COPY}`)
}

function createEvents(project_id: number): string {
  const { events, event_rows } = tablesOf(project_id)
  return `CREATE VIEW ${events} AS SELECT * FROM ${event_rows} WHERE person_mode < ${EMPTY_MODE}`
}

function createEventRows(table: string): string {
  const hot = HOT_PROPERTIES.map((property) => `${hotColumn(property)} VARCHAR`).join(', ')
  return `CREATE TABLE ${table} (
    seq BIGINT NOT NULL, inserted_at TIMESTAMP NOT NULL, uuid UUID NOT NULL, event VARCHAR NOT NULL,
    distinct_id VARCHAR NOT NULL, timestamp TIMESTAMP NOT NULL, created_at TIMESTAMP NOT NULL,
    elements_chain VARCHAR NOT NULL, person_mode UTINYINT NOT NULL, person_id UUID,
    person_properties VARCHAR NOT NULL USING COMPRESSION zstd,
    properties VARCHAR NOT NULL USING COMPRESSION zstd, ${hot})`
}

export function createProjectTables(project_id: number): string[] {
  const tables = tablesOf(project_id)
  return [
    createEventRows(tables.event_rows),
    createEvents(project_id),
    `CREATE TABLE ${tables.person_rows} (
      id UUID NOT NULL, created_at TIMESTAMP NOT NULL, is_identified BOOLEAN NOT NULL, properties VARCHAR NOT NULL,
      version BIGINT NOT NULL, changed_at TIMESTAMP NOT NULL)`,
    `CREATE TABLE ${tables.distinct_ids} (
      distinct_id VARCHAR NOT NULL, person_id UUID NOT NULL, version BIGINT NOT NULL, changed_at TIMESTAMP NOT NULL)`,
    `CREATE TABLE ${tables.group_rows} (
      index UTINYINT NOT NULL, key VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL, properties VARCHAR NOT NULL)`,
    ...createCopies(project_id),
  ]
}

export function dropProjectTables(project_id: number): string[] {
  const { events, persons, groups, ...tables } = tablesOf(project_id)
  return [
    ...[events, persons, groups].map((view) => `DROP VIEW IF EXISTS ${view}`),
    ...Object.values(tables).map((table) => `DROP TABLE IF EXISTS ${table}`),
  ]
}

/** Brings the file up to date; all of it in one transaction. */
export async function migrateFile(
  connection: DuckDBConnection,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await connection.run('BEGIN')
  try {
    await connection.run('CREATE TABLE IF NOT EXISTS store_version (version BIGINT NOT NULL)')
    const version = await firstNumber(connection, 'SELECT coalesce(max(version), 0) FROM store_version')
    if (version > migrations.length) {
      throw new Error('the event store is newer than this program: start the newer version')
    }
    const projects = await projectsWithTables(connection)
    for (const { once = [], perProject } of migrations.slice(version)) {
      for (const sql of once) await connection.run(sql)
      for (const id of projects) for (const sql of perProject?.(id) ?? []) await connection.run(sql)
    }
    await connection.run(`DELETE FROM store_version`)
    await connection.run(`INSERT INTO store_version VALUES (${migrations.length})`)
    await connection.run('COMMIT')
  } catch (error) {
    await connection.run('ROLLBACK')
    throw error
  }
}

export async function projectsWithTables(connection: DuckDBConnection): Promise<Set<number>> {
  const rows = await (
    await connection.run(
      // The second is the first as it was called in older files.
      "SELECT table_name FROM duckdb_tables() WHERE regexp_full_match(table_name, '(er|ev)_[0-9]+')",
    )
  ).getRows()
  return new Set(rows.map(([name]) => Number(String(name).slice('er_'.length))))
}

async function firstNumber(connection: DuckDBConnection, sql: string): Promise<number> {
  const [row] = await (await connection.run(sql)).getRows()
  return Number(row![0])
}
