// SQL statements that read persons for the API. Those of ingestion are in flush-queries.ts and change-queries.ts.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { PersonRow } from './schema.ts'

function matching(projectId: number, conditions: readonly Statement[]): Statement {
  return joinSql([sql`project_id = ${projectId} AND merged_into IS NULL`, ...conditions], ' AND ')
}

/** Which persons are on a page, newest first, and how much there is to read of them. */
export function listPersonSizes(
  db: Db,
  projectId: number,
  conditions: readonly Statement[],
  page: Page,
): Promise<{ uuid: string; properties_size: number }[]> {
  return db.rows(sql`
    SELECT uuid, properties_size FROM person WHERE ${matching(projectId, conditions)}
    ORDER BY id DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countPersons(
  db: Db,
  projectId: number,
  conditions: readonly Statement[],
): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM person WHERE ${matching(projectId, conditions)}`,
  )
  return row.count
}

/** Newest first, each with at most `maxDistinctIds` of its distinct ids. */
export function listPersons(
  db: Db,
  projectId: number,
  uuids: readonly string[],
  maxDistinctIds: number,
): Promise<PersonRow[]> {
  return db.rows(sql`
    SELECT id, uuid, properties, created_at, is_identified, ARRAY(
      SELECT distinct_id FROM person_distinct_id AS of_person
      WHERE of_person.project_id = ${projectId} AND of_person.person = person.uuid
      ORDER BY of_person.change LIMIT ${maxDistinctIds}) AS distinct_ids
    FROM person WHERE project_id = ${projectId} AND uuid = ANY(${uuids}::uuid[]) AND merged_into IS NULL
    ORDER BY id DESC`)
}

/** Values of a property, those of most persons first. A list counts by its items. */
export function listPersonValues(
  db: Db,
  projectId: number,
  key: string,
  part: string | null,
  limit: number,
): Promise<{ name: unknown; count: number }[]> {
  const pattern = part === null ? null : `%${part.replace(/[\\%_]/g, '\\$&')}%`
  return db.rows(sql`
    SELECT value AS name, count(*)::int AS count
    FROM person CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(properties -> ${key})
      WHEN 'array' THEN properties -> ${key} ELSE jsonb_build_array(properties -> ${key}) END) AS item (value)
    WHERE project_id = ${projectId} AND merged_into IS NULL AND properties ? ${key} AND value <> 'null'
      AND (${pattern}::text IS NULL OR value #>> '{}' ILIKE ${pattern}::text)
    GROUP BY value ORDER BY count DESC, length(value::text), value::text LIMIT ${limit}`)
}

/** By integer id or UUID; undefined for what is neither. */
export async function findPersonUuid(
  db: Db,
  projectId: number,
  idOrUuid: string,
): Promise<string | undefined> {
  const id = /^\d{1,18}$/.test(idOrUuid) ? idOrUuid : null
  const uuid = isUuid(idOrUuid) ? idOrUuid : null
  if (id === null && uuid === null) return undefined
  const row = await db.row<{ uuid: string }>(sql`
    SELECT uuid FROM person WHERE project_id = ${projectId} AND merged_into IS NULL
      AND (id = ${id}::bigint OR uuid = ${uuid}::uuid)`)
  return row?.uuid
}

/** None for an unknown person. */
export async function findDistinctIdsOfPerson(
  db: Db,
  projectId: number,
  idOrUuid: string,
): Promise<string[]> {
  const uuid = await findPersonUuid(db, projectId, idOrUuid)
  if (uuid === undefined) return []
  const rows = await db.rows<{ distinct_id: string }>(sql`
    SELECT distinct_id FROM person_distinct_id WHERE project_id = ${projectId} AND person = ${uuid} ORDER BY change`)
  return rows.map((row) => row.distinct_id)
}

/** A person with only those properties by which it is shown. */
export type FoundPerson = Pick<PersonRow, 'uuid' | 'is_identified'> & {
  first_distinct_id: string
  properties: Record<string, unknown>
}

type ShownPerson = Omit<FoundPerson, 'properties'> & {
  distinct_id: string
  email: unknown
  name: unknown
  username: unknown
}

/** By distinct id; unknown ones are left out. */
export async function findPersonsByDistinctIds(
  db: Db,
  projectId: number,
  distinctIds: readonly string[],
): Promise<Map<string, FoundPerson>> {
  const rows = await db.rows<ShownPerson>(sql`
    SELECT wanted.distinct_id, person.uuid, is_identified, first.distinct_id AS first_distinct_id,
      properties -> 'email' AS email, properties -> 'name' AS name, properties -> 'username' AS username
    FROM person_distinct_id AS wanted
    JOIN person ON person.project_id = wanted.project_id AND person.uuid = wanted.person
    CROSS JOIN LATERAL (SELECT distinct_id FROM person_distinct_id AS of_person
      WHERE of_person.project_id = wanted.project_id AND of_person.person = wanted.person
      ORDER BY of_person.change LIMIT 1) AS first
    WHERE wanted.project_id = ${projectId} AND wanted.distinct_id = ANY(${distinctIds}::text[])`)
  return new Map(
    rows.map(({ distinct_id, email, name, username, ...person }) => [
      distinct_id,
      { ...person, properties: withoutNulls({ email, name, username }) },
    ]),
  )
}

function withoutNulls(properties: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null))
}
