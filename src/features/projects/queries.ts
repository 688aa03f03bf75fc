// Every SQL statement about projects.
import { randomBase62 } from '../../lib/base62.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql, type Statement } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { isPrivate } from './access.ts'
import type { ProjectFields, ProjectRow, ShownProjectRow } from './schema.ts'

const DEFAULT_PROJECT_NAME = 'Default project'

const shown = sql`project.*, ${isPrivate} AS is_private`

/** `reachable` is a condition of access.ts. */
export function listProjects(
  db: Db,
  organizationId: string,
  reachable: Statement,
  page: Page,
): Promise<ShownProjectRow[]> {
  return db.rows(sql`
    SELECT ${shown} FROM project WHERE organization_id = ${organizationId} AND ${reachable}
    ORDER BY id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countProjects(db: Db, organizationId: string, reachable: Statement): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM project WHERE organization_id = ${organizationId} AND ${reachable}`)
  return row.count
}

/** For what has settled the right to the project, or acts for the server. */
export function findProject(db: Db, organizationId: string, id: number): Promise<ProjectRow | undefined> {
  return db.row(sql`SELECT * FROM project WHERE organization_id = ${organizationId} AND id = ${id}`)
}

export function findShownProject(
  db: Db,
  organizationId: string,
  id: number,
  reachable: Statement = sql`true`,
): Promise<ShownProjectRow | undefined> {
  return db.row(sql`
    SELECT ${shown} FROM project WHERE organization_id = ${organizationId} AND id = ${id} AND ${reachable}`)
}

/** For work of the server's own, which no caller asked for. */
export function findProjectById(db: Db, id: number): Promise<ProjectRow | undefined> {
  return db.row(sql`SELECT * FROM project WHERE id = ${id}`)
}

/** As it stands now, and until the transaction ends: what a change is compared with. */
export function lockProject(db: Db, organizationId: string, id: number): Promise<ProjectRow> {
  return db.only(
    sql`SELECT * FROM project WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`,
  )
}

export function findFirstProject(
  db: Db,
  organizationId: string,
  reachable: Statement,
): Promise<ShownProjectRow | undefined> {
  return db.row(sql`
    SELECT ${shown} FROM project WHERE organization_id = ${organizationId} AND ${reachable} ORDER BY id LIMIT 1`)
}

export function insertProject(
  db: Db,
  organizationId: string,
  fields: ProjectFields,
  now: Date,
): Promise<ProjectRow> {
  return db.only(sql`
    INSERT INTO project (uuid, organization_id, api_token, name, timezone, app_urls, anonymize_ips,
      autocapture_exceptions_opt_in, autocapture_web_vitals_opt_in, heatmaps_opt_in, session_recording_opt_in,
      surveys_opt_in, cookieless_server_hash_mode, recording_domains,
      completed_snippet_onboarding, is_demo, created_at, updated_at)
    VALUES (${uuid7(now)}, ${organizationId}, ${newProjectToken()}, ${fields.name ?? DEFAULT_PROJECT_NAME},
      ${fields.timezone ?? 'UTC'}, ${json(fields.app_urls ?? [])}, ${fields.anonymize_ips ?? false},
      ${fields.autocapture_exceptions_opt_in ?? null}, ${fields.autocapture_web_vitals_opt_in ?? null},
      ${fields.heatmaps_opt_in ?? null}, ${fields.session_recording_opt_in ?? false},
      ${fields.surveys_opt_in ?? null}, ${fields.cookieless_server_hash_mode ?? null},
      ${json(fields.recording_domains ?? null)},
      ${fields.completed_snippet_onboarding ?? false}, ${fields.is_demo ?? false}, ${now}, ${now})
    RETURNING *`)
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))

export function updateProject(
  db: Db,
  organizationId: string,
  id: number,
  fields: ProjectFields,
  now: Date,
): Promise<ProjectRow> {
  const { app_urls, recording_domains, ...plain } = fields
  const columns = {
    ...plain,
    ...(app_urls === undefined ? {} : { app_urls: json(app_urls) }),
    ...(recording_domains === undefined ? {} : { recording_domains: json(recording_domains) }),
    updated_at: now,
  }
  return db.only(sql`
    UPDATE project SET ${assignments(columns)} WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

export function replaceProjectToken(
  db: Db,
  organizationId: string,
  id: number,
  now: Date,
): Promise<ProjectRow> {
  return db.only(sql`
    UPDATE project SET api_token = ${newProjectToken()}, updated_at = ${now}
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

/** Locked, so that none is added while all of them go. */
export function lockProjectsOf(db: Db, organizationId: string): Promise<{ id: number }[]> {
  return db.rows(sql`SELECT id FROM project WHERE organization_id = ${organizationId} FOR UPDATE`)
}

export function deleteProject(db: Db, organizationId: string, id: number): Promise<ProjectRow> {
  return db.only(
    sql`DELETE FROM project WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`,
  )
}

/** Public by design: it stands in web pages to say which project an event belongs to. */
function newProjectToken(): string {
  return `phc_${randomBase62(32)}`
}

/** In order: two flushes never wait for each other. */
export async function markIngested(tx: Db, projectIds: readonly number[]): Promise<void> {
  await tx.run(sql`
    UPDATE project SET ingested_event = true WHERE id IN (
      SELECT id FROM project WHERE id = ANY(${projectIds}) AND NOT ingested_event ORDER BY id FOR NO KEY UPDATE)`)
}
