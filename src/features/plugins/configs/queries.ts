// SQL statements about configs. The row `c` is the config, `p` its plugin. Deleted ones stay, to be restored.
import type { Db } from '../../../platform/db/database.ts'
import { assignments, joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import { FAMILIES, isInFamily, type Family } from '../families.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { CONFIGS } from '../versions/accepted.ts'
import { HASH } from '../versions/queries.ts'

/** The configs of a project, as one of the paths shows them. */
export type ConfigSet = { project_id: number; family: Family }

const configs = sql`SELECT c.* FROM ${CONFIGS}`

function isInSet({ project_id, family }: ConfigSet): Statement {
  return sql`c.project_id = ${project_id} AND ${isInFamily(family)}`
}

export function listConfigs(db: Db, set: ConfigSet, page: Page): Promise<PluginConfigRow[]> {
  return db.rows(sql`
    ${configs} WHERE ${isInSet(set)} AND NOT c.deleted
    ORDER BY c."order", c.plugin_id, c.id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export function listEnabledConfigs(db: Db, set: ConfigSet): Promise<PluginConfigRow[]> {
  return db.rows(sql`
    ${configs} WHERE ${isInSet(set)} AND c.enabled AND NOT c.deleted ORDER BY c."order", c.plugin_id, c.id`)
}

export async function countConfigs(db: Db, set: ConfigSet): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM ${CONFIGS}
    WHERE ${isInSet(set)} AND NOT c.deleted`)
  return row.count
}

/** Deleted ones too. */
export function findConfig(db: Db, set: ConfigSet, id: number): Promise<PluginConfigRow | undefined> {
  return db.row(sql`${configs} WHERE ${isInSet(set)} AND c.id = ${id}`)
}

/** As it stands now, and until the transaction ends. */
export function lockConfig(db: Db, project_id: number, id: number): Promise<PluginConfigRow> {
  return db.only(
    sql`SELECT * FROM plugin_config WHERE project_id = ${project_id} AND id = ${id} FOR NO KEY UPDATE`,
  )
}

/** Those among them that are there, in one order, lest two who rearrange wait for each other. */
export function lockConfigs(db: Db, set: ConfigSet, ids: readonly number[]): Promise<PluginConfigRow[]> {
  return db.rows(sql`
    ${configs} WHERE ${isInSet(set)} AND NOT c.deleted AND c.id = ANY(${ids}::int[])
    ORDER BY c.id FOR NO KEY UPDATE OF c`)
}

export async function isPluginInFamily(db: Db, plugin_id: number, family: Family): Promise<boolean> {
  const row = await db.row(sql`SELECT 1 FROM plugin p WHERE p.id = ${plugin_id} AND ${isInFamily(family)}`)
  return row !== undefined
}

/** A plugin as one config has it, whoever it belongs to. */
export type PluginOfConfig = PluginRow & {
  plugin_config_id: number
  /** What can be accepted; null where there is nothing to accept. */
  latest_version: string | null
  families: Family[]
}

const families = sql`array_remove(ARRAY[${joinSql(
  FAMILIES.filter((family) => family !== 'plugins').map(
    (family) => sql`CASE WHEN ${isInFamily(family)} THEN ${family}::text END`,
  ),
  ', ',
)}], NULL)`

export function listPluginsOf(db: Db, project_id: number, ids: readonly number[]): Promise<PluginOfConfig[]> {
  return db.rows(sql`
    SELECT p.*, organization.name AS organization_name, c.id AS plugin_config_id,
      CASE WHEN c.version IS NOT NULL AND p.is_global
        THEN (SELECT ${HASH} FROM plugin p WHERE p.id = c.plugin_id) ELSE c.version END AS latest_version,
      ${families} AS families
    FROM ${CONFIGS} LEFT JOIN organization ON organization.id = p.organization_id
    WHERE c.project_id = ${project_id} AND c.id = ANY(${ids}::int[])`)
}

/** Secrets are sealed for the row they are to stand in, so its id is needed first. */
export async function takeConfigId(db: Db): Promise<number> {
  const row = await db.only<{ id: number }>(
    sql`SELECT nextval(pg_get_serial_sequence('plugin_config', 'id'))::int AS id`,
  )
  return row.id
}

export async function findNextOrder(db: Db, project_id: number): Promise<number> {
  const row = await db.only<{ next: number }>(sql`
    SELECT least(coalesce(max("order")::bigint + 1, 1), ${2 ** 31 - 1}::bigint)::int AS next
    FROM plugin_config WHERE project_id = ${project_id} AND NOT deleted`)
  return row.next
}

export type NewConfig = Omit<PluginConfigRow, 'deleted' | 'error' | 'has_removed' | 'notified_at'>

export function insertConfig(db: Db, row: NewConfig): Promise<PluginConfigRow> {
  return db.only(sql`
    INSERT INTO plugin_config (id, project_id, plugin_id, enabled, "order", name, description, config, secrets, filters,
      on_failure, version, web_token, created_at, updated_at)
    OVERRIDING SYSTEM VALUE
    VALUES (${row.id}, ${row.project_id}, ${row.plugin_id}, ${row.enabled}, ${row.order}, ${row.name},
      ${row.description}, ${row.config}, ${row.secrets}, ${row.filters}, ${row.on_failure}, ${row.version}, ${row.web_token},
      ${row.created_at}, ${row.updated_at})
    RETURNING *`)
}

export function updateConfig(
  db: Db,
  { project_id, id }: Pick<PluginConfigRow, 'project_id' | 'id'>,
  columns: Partial<PluginConfigRow>,
  now: Date,
): Promise<PluginConfigRow> {
  const { order, ...plain } = columns
  const changes = [
    assignments({ ...plain, updated_at: now }),
    ...(order === undefined ? [] : [sql`"order" = ${order}`]),
  ]
  return db.only(sql`
    UPDATE plugin_config SET ${joinSql(changes, ', ')}
    WHERE project_id = ${project_id} AND id = ${id} RETURNING *`)
}

export type CallCounts = {
  id: number
  /** The share of calls that went well; null when there were none. */
  rate: number | null
  failures: number
  /** Events of the kind of call that was made most: a webhook is composed and sent, which is one event. */
  recent_events: number
}

/** How calls went since `since`, by config; those that were not called are left out. */
export function listCallCounts(
  db: Db,
  project_id: number,
  ids: readonly number[],
  { since, recently }: { since: Date; recently: Date },
): Promise<CallCounts[]> {
  return db.rows(sql`
    SELECT id, (sum(good) / nullif(sum(good + failures), 0))::float8 AS rate, sum(failures)::float8 AS failures,
      coalesce(max(recent), 0)::float8 AS recent_events
    FROM (
      SELECT plugin_config_id AS id, sum(successes + successes_on_retry) AS good, sum(failures) AS failures,
        sum(successes + successes_on_retry + failures) FILTER (WHERE hour >= ${recently}) AS recent
      FROM plugin_metric
      WHERE project_id = ${project_id} AND plugin_config_id = ANY(${ids}::int[]) AND hour > ${since}
      GROUP BY plugin_config_id, category) AS calls
    GROUP BY id`)
}
