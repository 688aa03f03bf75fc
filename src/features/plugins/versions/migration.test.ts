// A database from before versions: who had a plugin of others configured has accepted it as it was.
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { openDatabase, type Database } from '../../../platform/db/database.ts'
import { migrate } from '../../../platform/db/migrate.ts'
import { sql } from '../../../platform/db/sql.ts'
import { lockCurrentVersion } from './queries.ts'

const THIS = '0014_app_versions.sql'
const FOLDER = new URL('../../../platform/db/migrations/', import.meta.url)
const AT = new Date('2026-01-05T00:00:00Z')
const { template: _, ...connection } = inject('postgres')

let admin: Database
let db: Database
let name: string
beforeEach(async () => {
  name = `test_versions_${randomBytes(6).toString('hex')}`
  admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  await admin.pool.query(`CREATE DATABASE ${name}`)
  db = openDatabase({ ...connection, database: name })
  await db.run(
    sql`CREATE TABLE migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
  )
  for (const file of (await readdir(FOLDER)).sort().filter((each) => each < THIS)) {
    await db.pool.query(await readFile(new URL(file, FOLDER), 'utf8'))
    await db.run(sql`INSERT INTO migration (name) VALUES (${file})`)
  }
})
afterEach(async () => {
  await db.close()
  await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.close()
})

async function addProject(): Promise<{ id: number; organization_id: string }> {
  const organization_id = randomUUID()
  await db.run(sql`
    INSERT INTO organization (id, name, slug, created_at, updated_at)
    VALUES (${organization_id}, 'Acme', ${organization_id}, ${AT}, ${AT})`)
  // In the columns of that time.
  const { id } = await db.only<{ id: number }>(sql`
    INSERT INTO project (uuid, organization_id, name, api_token, created_at, updated_at)
    VALUES (${randomUUID()}, ${organization_id}, 'Shop', ${randomUUID()}, ${AT}, ${AT}) RETURNING id`)
  return { id, organization_id }
}

type Old = { type?: string; url?: string; load_error?: string }

async function addPlugin(organization_id: string | null, { type = 'source', url, load_error }: Old = {}) {
  const { id } = await db.only<{ id: number }>(sql`
    INSERT INTO plugin (organization_id, plugin_type, url, name, config_schema, is_global, capabilities, load_error,
      created_via_family, created_at, updated_at)
    VALUES (${organization_id}, ${type}, ${url ?? null}, 'Shared', '[{"key": "ü"}]', true, '{"methods": ["onEvent"]}',
      ${load_error ?? null}, 'plugins', ${AT}, ${AT})
    RETURNING id`)
  await db.run(sql`
    INSERT INTO plugin_source_file (plugin_id, filename, source, transpiled, status, updated_at)
    VALUES (${id}, 'index.ts', 'const ü = "\\x"', 'translated', 'TRANSPILED', ${AT}),
      (${id}, 'notes.md', 'Hello.', NULL, NULL, ${AT})`)
  return id
}

async function addConfig(project_id: number, plugin_id: number): Promise<number> {
  const { id } = await db.only<{ id: number }>(sql`
    INSERT INTO plugin_config (project_id, plugin_id, enabled, "order", name, description, config, secrets, web_token,
      created_at, updated_at)
    VALUES (${project_id}, ${plugin_id}, true, 1, '', '', '{}', '', 'token', ${AT}, ${AT}) RETURNING id`)
  return id
}

const versionOf = async (id: number) =>
  (await db.only<{ version: string | null }>(sql`SELECT version FROM plugin_config WHERE id = ${id}`)).version

it('pins what others run to what it is, and nothing else', async () => {
  const author = await addProject()
  const guest = await addProject()
  const shared = await addPlugin(author.organization_id)
  const folder = await addPlugin(author.organization_id, { type: 'local', url: 'file:/apps/one' })
  const inline = await addPlugin(null, { type: 'inline', url: 'inline:one' })
  const theirs = await addConfig(guest.id, shared)
  const others = [
    await addConfig(author.id, shared),
    await addConfig(guest.id, folder),
    await addConfig(guest.id, inline),
  ]
  await migrate(db)
  const current = await db.transaction((tx) => lockCurrentVersion(tx, shared))
  expect(await versionOf(theirs)).toBe(current)
  expect(await Promise.all(others.map(versionOf))).toEqual([null, null, null])
  expect(await db.rows(sql`SELECT filename, transpiled FROM plugin_version_file`)).toEqual([
    { filename: 'index.ts', transpiled: 'translated' },
  ])
})

it('keeps what was said of code that does not load', async () => {
  const { organization_id } = await addProject()
  const id = await addPlugin(organization_id, { load_error: 'not today' })
  await migrate(db)
  const { errors } = await db.only<{ errors: unknown }>(sql`SELECT errors FROM plugin WHERE id = ${id}`)
  expect(errors).toEqual([{ file: 'index.ts', line: null, column: null, message: 'not today' }])
})
