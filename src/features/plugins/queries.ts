// SQL statements about plugins and their files. The row `p` is the plugin, throughout.
import type { Db } from '../../platform/db/database.ts'
import { assignments, joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import { isReachable } from '../projects/access.ts'
import { FAMILIES, isInFamily, type Family } from './families.ts'
import type { PluginRow } from './rows.ts'
import { HASH } from './versions/queries.ts'

const plugins = sql`
  SELECT p.*, organization.name AS organization_name
  FROM plugin p LEFT JOIN organization ON organization.id = p.organization_id`

/** Its own, those for everybody, and those that one of its projects has still configured. */
function isVisibleTo(organization_id: string): Statement {
  return sql`(p.organization_id = ${organization_id} OR p.is_global OR EXISTS (
    SELECT 1 FROM plugin_config JOIN project ON project.id = plugin_config.project_id
    WHERE plugin_config.plugin_id = p.id AND NOT plugin_config.deleted
      AND project.organization_id = ${organization_id}))`
}

/** Owned, and switched on nowhere. */
function isUnusedOf(organization_id: string): Statement {
  return sql`(p.organization_id = ${organization_id} AND NOT EXISTS (
    SELECT 1 FROM plugin_config WHERE plugin_id = p.id AND enabled AND NOT deleted))`
}

export type PluginSet = { organization_id: string; family: Family; only: 'visible' | 'unused' }

function isInSet({ organization_id, family, only }: PluginSet): Statement {
  const condition = only === 'visible' ? isVisibleTo(organization_id) : isUnusedOf(organization_id)
  return sql`${condition} AND ${isInFamily(family)}`
}

export function listPlugins(db: Db, set: PluginSet, page: Page): Promise<PluginRow[]> {
  return db.rows(
    sql`${plugins} WHERE ${isInSet(set)} ORDER BY p.id LIMIT ${page.limit} OFFSET ${page.offset}`,
  )
}

export async function countPlugins(db: Db, set: PluginSet): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM plugin p WHERE ${isInSet(set)}`)
  return row.count
}

export function findVisiblePlugin(
  db: Db,
  organization_id: string,
  family: Family,
  id: number,
): Promise<PluginRow | undefined> {
  return db.row(sql`
    ${plugins} WHERE p.id = ${id} AND ${isVisibleTo(organization_id)} AND ${isInFamily(family)}`)
}

/** Whether a project of its own organization has it set up, switched on or off, that the caller does not reach. */
export async function isUsedBeyond(
  db: Db,
  plugin: PluginRow,
  caller: Caller,
  level?: Level,
): Promise<boolean> {
  const row = await db.only<{ found: boolean }>(sql`
    SELECT EXISTS (
      SELECT 1 FROM plugin_config JOIN project ON project.id = plugin_config.project_id
      WHERE plugin_config.plugin_id = ${plugin.id} AND NOT plugin_config.deleted
        AND project.organization_id = ${plugin.organization_id} AND NOT ${isReachable(caller, level)}) AS found`)
  return row.found
}

/** One that a project of the organization may be given: its own, or one for everybody. */
export function findUsablePlugin(
  db: Db,
  organization_id: string,
  id: number,
): Promise<(PluginRow & { hash: string }) | undefined> {
  return db.row(sql`
    SELECT p.*, organization.name AS organization_name, ${HASH} AS hash
    FROM plugin p LEFT JOIN organization ON organization.id = p.organization_id
    WHERE p.id = ${id} AND (p.organization_id = ${organization_id} OR p.is_global)`)
}

/** Those that come from one of these addresses, for everybody or the organization: its own at the end. */
export function listInstalled(
  db: Db,
  organization_id: string,
  urls: readonly string[],
): Promise<PluginRow[]> {
  return db.rows(sql`
    ${plugins} WHERE p.url = ANY(${urls}) AND (p.organization_id = ${organization_id} OR p.is_global)
    ORDER BY coalesce(p.organization_id = ${organization_id}, false), p.id`)
}

/** Whether a project of another organization has it, switched on or not. */
export async function isConfiguredElsewhere(db: Db, organization_id: string, id: number): Promise<boolean> {
  const row = await db.row(sql`
    SELECT 1 FROM plugin_config JOIN project ON project.id = plugin_config.project_id
    WHERE plugin_config.plugin_id = ${id} AND NOT plugin_config.deleted
      AND project.organization_id <> ${organization_id} LIMIT 1`)
  return row !== undefined
}

export async function getAccessLevel(db: Db, organization_id: string): Promise<number> {
  const row = await db.only<{ plugins_access_level: number }>(sql`
    SELECT plugins_access_level FROM organization WHERE id = ${organization_id}`)
  return row.plugins_access_level
}

export async function countOwnPlugins(db: Db, organization_id: string): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM plugin WHERE organization_id = ${organization_id}`)
  return row.count
}

export async function hasPluginFrom(db: Db, organization_id: string, url: string): Promise<boolean> {
  const row = await db.row(
    sql`SELECT 1 FROM plugin WHERE organization_id = ${organization_id} AND url = ${url}`,
  )
  return row !== undefined
}

/** `version` is another one after every change of the row. */
export type LockedPlugin = PluginRow & { version: string }

export function getOwnPlugin(db: Db, organization_id: string, id: number): Promise<LockedPlugin> {
  return db.only(sql`
    SELECT p.*, p.xmin::text AS version, organization.name AS organization_name
    FROM plugin p JOIN organization ON organization.id = p.organization_id
    WHERE p.organization_id = ${organization_id} AND p.id = ${id}`)
}

/** As it stands now, and until the transaction ends; configs can still be added to it. */
export function lockPlugin(db: Db, organization_id: string, id: number): Promise<LockedPlugin> {
  return db.only(sql`
    SELECT p.*, p.xmin::text AS version, organization.name AS organization_name
    FROM plugin p JOIN organization ON organization.id = p.organization_id
    WHERE p.organization_id = ${organization_id} AND p.id = ${id} FOR NO KEY UPDATE OF p`)
}

export type PluginColumns = Omit<PluginRow, 'id' | 'organization_name' | 'private_token'>

export async function insertPlugin(db: Db, row: PluginColumns): Promise<number> {
  const { id } = await db.only<{ id: number }>(sql`
    INSERT INTO plugin (organization_id, plugin_type, name, description, url, icon, config_schema, tag, latest_tag,
      latest_tag_checked_at, is_global, capabilities, metrics, public_jobs, created_via_family, errors, removes,
      created_at, updated_at)
    VALUES (${row.organization_id}, ${row.plugin_type}, ${row.name}, ${row.description}, ${row.url}, ${row.icon},
      ${asJson(row.config_schema)}, ${row.tag}, ${row.latest_tag}, ${row.latest_tag_checked_at}, ${row.is_global},
      ${asJson(row.capabilities)}, ${asJson(row.metrics)}, ${asJson(row.public_jobs)}, ${row.created_via_family},
      ${asJson(row.errors)}, ${row.removes}, ${row.created_at}, ${row.updated_at})
    RETURNING id`)
  return id
}

export async function setPrivateToken(
  db: Db,
  organization_id: string,
  id: number,
  sealed: string,
): Promise<void> {
  await db.run(sql`
    UPDATE plugin SET private_token = ${sealed} WHERE organization_id = ${organization_id} AND id = ${id}`)
}

const JSON_COLUMNS = new Set(['config_schema', 'capabilities', 'metrics', 'public_jobs', 'errors'])

export async function updatePlugin(
  db: Db,
  organization_id: string,
  id: number,
  columns: Partial<PluginColumns>,
): Promise<void> {
  const stored = Object.entries(columns).map(([column, value]) => [
    column,
    JSON_COLUMNS.has(column) ? asJson(value) : value,
  ])
  await db.run(sql`
    UPDATE plugin SET ${assignments(Object.fromEntries(stored))}
    WHERE organization_id = ${organization_id} AND id = ${id}`)
}

/** Configs, files, attachments, logs and whatever else hangs on it go too (ON DELETE CASCADE). */
export async function deletePlugin(db: Db, organization_id: string, id: number): Promise<void> {
  await db.run(sql`DELETE FROM plugin WHERE organization_id = ${organization_id} AND id = ${id}`)
}

export async function listFamiliesOf(db: Db, organization_id: string, id: number): Promise<Family[]> {
  const each = FAMILIES.map((family) => sql`CASE WHEN ${isInFamily(family)} THEN ${family}::text END`)
  const { families } = await db.only<{ families: (Family | null)[] }>(sql`
    SELECT ARRAY[${joinSql(each, ', ')}] AS families
    FROM plugin p WHERE p.organization_id = ${organization_id} AND p.id = ${id}`)
  return families.filter((family) => family !== null)
}

/** The driver takes a list for an array of PostgreSQL's. */
function asJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
