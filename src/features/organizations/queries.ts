// Every SQL statement about organizations.
import { randomBase62 } from '../../lib/base62.ts'
import { slugify } from '../../lib/slug.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { assignments, preparedAs, sql, type Statement } from '../../platform/db/sql.ts'
import type { OrganizationInReach, ProjectInReach } from '../../platform/http/access.ts'
import { LEVELS, type Caller, type Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import { isOpenTo, opensToPersonalKeysOf } from '../members/queries.ts'
import { isPrivate, isReachable, levelInProject } from '../projects/access.ts'
import type { BasicProjectRow } from '../projects/schema.ts'
import type { OrganizationFields } from './schema.ts'

export type OrganizationRow = OrganizationInReach

/** What an answer shows beside the row itself. */
export type OrganizationFacts = { member_count: string; owner_count: number; projects: BasicProjectRow[] }
export type ListedOrganization = OrganizationRow & { level: Level } & OrganizationFacts

const SLUG_LENGTH = 48

const shownProjects = sql`
  coalesce(jsonb_agg(to_jsonb(project) || jsonb_build_object('is_private', ${isPrivate}) ORDER BY project.id), '[]')`

const countMembers = (organization: Statement) => sql`
  (SELECT count(*) FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organization} AND is_active)::text`

/** Those who can sign in: the last of them cannot leave. */
const countOwners = (organization: Statement) => sql`
  (SELECT count(*) FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organization} AND level = ${LEVELS.owner} AND is_active)::int`

/** One statement for all facts, since every organization answer needs them. `reachable`: see projects/access.ts. */
export function getOrganizationFacts(
  db: Db,
  organizationId: string,
  reachable: Statement,
): Promise<OrganizationFacts> {
  const organization = sql`${organizationId}`
  return db.only(sql`
    SELECT ${countMembers(organization)} AS member_count, ${countOwners(organization)} AS owner_count,
      (SELECT ${shownProjects} FROM project
        WHERE organization_id = ${organizationId} AND ${reachable}) AS projects`)
}

/** The caller's organizations; a limited key sees only those it is limited to, a service key its own. */
export function listOrganizations(db: Db, caller: Caller, page: Page): Promise<ListedOrganization[]> {
  return db.rows(sql`
    SELECT organization.*, reach.level, ${countMembers(sql`organization.id`)} AS member_count,
      ${countOwners(sql`organization.id`)} AS owner_count,
      (SELECT ${shownProjects} FROM project
        WHERE project.organization_id = organization.id AND ${isReachable(caller)}) AS projects
    FROM organization JOIN (${reachOf(caller)}) AS reach ON reach.organization_id = organization.id
    ORDER BY created_at, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countOrganizations(db: Db, caller: Caller): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM (${reachOf(caller)}) AS reach`,
  )
  return row.count
}

function reachOf(caller: Caller) {
  if (caller.kind === 'service_key') {
    return sql`SELECT ${caller.organization_id}::uuid AS organization_id, ${caller.level}::int AS level`
  }
  const only = caller.kind === 'personal_key' ? caller.key.scoped_organizations : []
  return sql`
    SELECT organization_id, level FROM membership
    WHERE user_id = ${caller.user.id} AND ${isOpenTo(caller)} AND (cardinality(${only}::uuid[]) = 0 OR organization_id = ANY(${only}::uuid[]))`
}

/** The addressed organization and the caller's level in it (null: a stranger); the fixed order of checks asks this. */
export async function findOrganizationInReach(db: Db, caller: Caller, id: string) {
  const userId = caller.user?.id ?? null
  const row = await db.row<OrganizationRow & { level: Level | null }>(sql`
    SELECT organization.*, membership.level
    FROM organization LEFT JOIN membership ON membership.organization_id = organization.id AND user_id = ${userId}
    WHERE organization.id = ${id}`)
  if (!row) return null
  const { level, ...organization } = row
  return {
    organization,
    level: caller.kind === 'service_key' ? serviceLevel(caller, organization.id) : level,
  }
}

function serviceLevel(
  caller: Extract<Caller, { kind: 'service_key' }>,
  organizationId: string,
): Level | null {
  return caller.organization_id === organizationId ? caller.level : null
}

/** The same for a project, with the caller's level in it. */
export async function findProjectInReach(db: Db, caller: Caller, id: number) {
  const statement = sql`
    SELECT project.id, project.organization_id, project.name, project.timezone, organization.enforce_2fa,
      organization.enforce_2fa_with_sso,
      ${opensToPersonalKeysOf(caller)} AS opens_to_personal_keys, ${levelInProject(caller)} AS level
    FROM project JOIN organization ON organization.id = project.organization_id
    WHERE project.id = ${id}`
  const row = await db.row<
    ProjectInReach & {
      enforce_2fa: boolean
      enforce_2fa_with_sso: boolean
      opens_to_personal_keys: boolean
      level: Level | null
    }
  >(preparedAs(`project_of_${caller.kind}`, statement))
  if (!row) return null
  const { enforce_2fa, enforce_2fa_with_sso, opens_to_personal_keys, level, ...project } = row
  return { project, enforce_2fa, enforce_2fa_with_sso, opens_to_personal_keys, level }
}

export function findOrganizationById(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return db.row(sql`SELECT * FROM organization WHERE id = ${id}`)
}

/** The slug comes from the name; a taken one gets the next free number. */
export async function insertOrganization(
  db: Db,
  fields: OrganizationFields & { name: string },
  now: Date,
): Promise<OrganizationRow> {
  const base = slugify(fields.name, SLUG_LENGTH) || randomBase62(8).toLowerCase()
  for (;;) {
    const slug = await freeSlug(db, base)
    try {
      return await db.transaction((tx) => insertWithSlug(tx, fields, slug, now))
    } catch (error) {
      // Somebody else took the slug between the look and the insert: look again.
      if (violatedUnique(error) !== 'organization_slug_unique') throw error
    }
  }
}

function insertWithSlug(
  db: Db,
  fields: OrganizationFields & { name: string },
  slug: string,
  now: Date,
): Promise<OrganizationRow> {
  return db.only(sql`
    INSERT INTO organization (id, name, slug, is_member_join_email_enabled, enforce_2fa, enforce_2fa_with_sso, members_can_invite,
      members_can_use_personal_api_keys, created_at, updated_at)
    VALUES (${uuid7(now)}, ${fields.name}, ${slug}, ${fields.is_member_join_email_enabled ?? true},
      ${fields.enforce_2fa ?? false}, ${fields.enforce_2fa_with_sso ?? false}, ${fields.members_can_invite ?? true},
      ${fields.members_can_use_personal_api_keys ?? true}, ${now}, ${now})
    RETURNING *`)
}

async function freeSlug(db: Db, base: string): Promise<string> {
  const taken = new Set(
    (
      await db.rows<{ slug: string }>(sql`
        SELECT slug FROM organization WHERE slug = ${base} OR slug LIKE ${`${base.slice(0, SLUG_LENGTH - 10)}%`}`)
    ).map((row) => row.slug),
  )
  for (let number = 0; ; number++) {
    const suffix = number === 0 ? '' : `-${number}`
    const slug = base.slice(0, SLUG_LENGTH - suffix.length).replace(/-$/, '') + suffix
    if (!taken.has(slug)) return slug
  }
}

/** As it stands now, and until the transaction ends; before a deletion nobody can add anything to it either. */
export function lockOrganization(
  db: Db,
  id: string,
  before: 'change' | 'deletion',
): Promise<OrganizationRow> {
  return before === 'change'
    ? db.only(sql`SELECT * FROM organization WHERE id = ${id} FOR NO KEY UPDATE`)
    : db.only(sql`SELECT * FROM organization WHERE id = ${id} FOR UPDATE`)
}

export function updateOrganization(
  db: Db,
  id: string,
  fields: OrganizationFields,
  now: Date,
): Promise<OrganizationRow> {
  return db.only(
    sql`UPDATE organization SET ${assignments({ ...fields, updated_at: now })} WHERE id = ${id} RETURNING *`,
  )
}

/** Whether code of the organization runs for another one, which its deletion would take away. */
export async function hasPluginUsedElsewhere(db: Db, id: string): Promise<boolean> {
  const { is_used } = await db.only<{ is_used: boolean }>(sql`
    SELECT EXISTS (
      SELECT 1 FROM plugin JOIN plugin_config ON plugin_config.plugin_id = plugin.id
      JOIN project ON project.id = plugin_config.project_id
      WHERE plugin.organization_id = ${id} AND NOT plugin_config.deleted
        AND project.organization_id <> ${id}) AS is_used`)
  return is_used
}

/** Memberships, invites, domains, projects and service keys go with it (ON DELETE CASCADE). */
export async function deleteOrganization(db: Db, id: string): Promise<void> {
  await db.run(sql`DELETE FROM organization WHERE id = ${id}`)
}
