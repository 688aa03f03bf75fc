// The SQL statements of ingestion: few per flush, each about many rows of many projects. Others are in head-queries.ts and
// queries.ts.
import { formatMicros } from '../../lib/microseconds.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Person } from './known-people.ts'
import type { Properties } from './properties.ts'

export type IdOfProject = { project_id: number; distinct_id: string }
export type PersonRef = { project_id: number; uuid: string }

/** A person that a distinct id leads to, before it is read. */
export type LocatedPerson = PersonRef & { properties_size: number; distinct_id_count: number }

export function locatePersons(
  db: Db,
  ids: readonly IdOfProject[],
): Promise<(LocatedPerson & { distinct_id: string })[]> {
  return db.rows(sql`
    SELECT project_id, distinct_id, person.uuid, properties_size, distinct_id_count
    FROM unnest(${ids.map((id) => id.project_id)}::int[], ${ids.map((id) => id.distinct_id)}::text[])
      AS wanted (project_id, distinct_id)
    JOIN person_distinct_id USING (project_id, distinct_id)
    JOIN person USING (project_id) WHERE person.uuid = person_distinct_id.person`)
}

type StoredPerson = Pick<
  Person,
  'project_id' | 'uuid' | 'properties' | 'properties_size' | 'is_identified' | 'distinct_id_count' | 'version'
> & { created_at: string }

/** Without those that were merged away since they were located. */
export function readPersons(db: Db, refs: readonly PersonRef[]): Promise<StoredPerson[]> {
  return db.rows(sql`
    SELECT project_id, uuid, properties, properties_size, is_identified, distinct_id_count, version,
      (extract(epoch FROM created_at) * 1000000)::bigint AS created_at
    FROM unnest(${refs.map((ref) => ref.project_id)}::int[], ${refs.map((ref) => ref.uuid)}::uuid[])
      AS wanted (project_id, uuid)
    JOIN person USING (project_id, uuid) WHERE merged_into IS NULL`)
}

/** All their distinct ids, each person's in the order of adding. */
export function readDistinctIds(
  db: Db,
  refs: readonly PersonRef[],
): Promise<(PersonRef & { distinct_id: string })[]> {
  return db.rows(sql`
    SELECT project_id, person AS uuid, distinct_id
    FROM unnest(${refs.map((ref) => ref.project_id)}::int[], ${refs.map((ref) => ref.uuid)}::uuid[])
      AS wanted (project_id, person)
    JOIN person_distinct_id USING (project_id, person) ORDER BY change`)
}

/** With the JSON text of its properties. */
export type WrittenPerson = readonly [Person, string]

/** The position of the last change, as with all that write. */
export async function insertPersons(db: Db, persons: readonly WrittenPerson[]): Promise<bigint> {
  const row = await db.only<{ position: string }>(sql`
    WITH written AS (
      INSERT INTO person (project_id, uuid, properties, properties_size, is_identified, created_at, distinct_id_count,
        version, change)
      SELECT project_id, uuid, properties, properties_size, is_identified, created_at, distinct_id_count,
        version, nextval('people_change')
      FROM json_to_recordset(${personsText(persons)}::json) AS made (project_id int, uuid uuid, properties jsonb,
        properties_size int, is_identified bool, created_at timestamptz, distinct_id_count int, version int)
      ON CONFLICT (project_id, uuid) DO UPDATE SET properties = EXCLUDED.properties,
        properties_size = EXCLUDED.properties_size, is_identified = EXCLUDED.is_identified,
        created_at = EXCLUDED.created_at, distinct_id_count = EXCLUDED.distinct_id_count, merged_into = NULL,
        change = EXCLUDED.change
      RETURNING change)
    SELECT max(change) AS position FROM written`)
  return BigInt(row.position)
}

/**
 * Apart from the insert: each row that an insert meets and updates would use up one of the integer ids, of which there
 * are two thousand million.
 */
export async function updatePersons(db: Db, persons: readonly WrittenPerson[]): Promise<bigint> {
  const row = await db.only<{ position: string }>(sql`
    WITH written AS (
      UPDATE person SET properties = changed.properties, properties_size = changed.properties_size,
        is_identified = changed.is_identified, created_at = changed.created_at,
        distinct_id_count = changed.distinct_id_count, merged_into = changed.merged_into,
        version = changed.version, change = nextval('people_change')
      FROM json_to_recordset(${personsText(persons)}::json) AS changed (project_id int, uuid uuid, properties jsonb,
        properties_size int, is_identified bool, created_at timestamptz, distinct_id_count int, merged_into uuid,
        version int)
      WHERE person.project_id = changed.project_id AND person.uuid = changed.uuid
      RETURNING change)
    SELECT max(change) AS position FROM written`)
  return BigInt(row.position)
}

function personsText(persons: readonly WrittenPerson[]): string {
  return rowsText(
    persons.map(([person, properties]) => [
      {
        project_id: person.project_id,
        uuid: person.uuid,
        properties_size: person.properties_size,
        is_identified: person.is_identified,
        created_at: formatMicros(person.created_at),
        distinct_id_count: person.distinct_id_count,
        merged_into: person.merged_into?.uuid ?? null,
        version: person.version,
      },
      properties,
    ]),
  )
}

/**
 * Rows as one JSON text, the properties put in as they are. As an array parameter each would be escaped once more by
 * the driver: measured at seven times the CPU of this process.
 */
function rowsText(rows: readonly (readonly [object, string])[]): string {
  const texts = rows.map(([fields, properties]) => {
    return `${JSON.stringify(fields).slice(0, -1)},"properties":${properties}}`
  })
  return `[${texts.join(',')}]`
}

export type WrittenId = IdOfProject & { person_id: string; version: number; change: string }

/** In this order: `change` tells which of a person's ids came first. */
export function writeDistinctIds(
  db: Db,
  ids: readonly (IdOfProject & { person: Person })[],
): Promise<WrittenId[]> {
  return db.rows(sql`
    INSERT INTO person_distinct_id (project_id, distinct_id, person, change)
    SELECT project_id, distinct_id, person, nextval('people_change')
    FROM unnest(${ids.map((id) => id.project_id)}::int[], ${ids.map((id) => id.distinct_id)}::text[],
      ${ids.map((id) => id.person.uuid)}::uuid[]) WITH ORDINALITY AS given (project_id, distinct_id, person, place)
    ORDER BY place
    ON CONFLICT (project_id, distinct_id) DO UPDATE SET person = EXCLUDED.person, change = EXCLUDED.change,
      version = person_distinct_id.version + 1
    RETURNING project_id, distinct_id, person AS person_id, version, change`)
}

export type GroupType = { project_id: number; index: number; name: string }

export function readGroupTypes(db: Db, projectIds: readonly number[]): Promise<GroupType[]> {
  return db.rows(sql`
    SELECT project_id, index, name FROM group_type WHERE project_id = ANY(${projectIds}) ORDER BY project_id, index`)
}

export async function insertGroupTypes(db: Db, types: readonly GroupType[], now: Date): Promise<void> {
  await db.run(sql`
    INSERT INTO group_type (project_id, index, name, created_at)
    SELECT project_id, index, name, ${now} FROM unnest(${types.map((type) => type.project_id)}::int[],
      ${types.map((type) => type.index)}::smallint[], ${types.map((type) => type.name)}::text[])
      AS made (project_id, index, name)`)
}

export type GroupRef = { project_id: number; index: number; key: string }
export type Group = GroupRef & { properties: Properties; properties_size: number; created_at: bigint }

export function readGroups(
  db: Db,
  refs: readonly GroupRef[],
): Promise<(Omit<Group, 'created_at'> & { created_at: string })[]> {
  return db.rows(sql`
    SELECT project_id, index, key, properties, properties_size,
      (extract(epoch FROM created_at) * 1000000)::bigint AS created_at
    FROM unnest(${refs.map((ref) => ref.project_id)}::int[], ${refs.map((ref) => ref.index)}::smallint[],
      ${refs.map((ref) => ref.key)}::text[]) AS wanted (project_id, index, key)
    JOIN group_of_project USING (project_id, index, key)`)
}

export async function writeGroups(db: Db, groups: readonly (readonly [Group, string])[]): Promise<bigint> {
  const text = rowsText(
    groups.map(([{ project_id, index, key, properties_size, created_at }, properties]) => [
      { project_id, index, key, properties_size, created_at: formatMicros(created_at) },
      properties,
    ]),
  )
  const row = await db.only<{ position: string }>(sql`
    WITH written AS (
      INSERT INTO group_of_project (project_id, index, key, properties, properties_size, created_at, change)
      SELECT project_id, index, key, properties, properties_size, created_at, nextval('people_change')
      FROM json_to_recordset(${text}::json) AS changed (project_id int, index smallint, key text, properties jsonb,
        properties_size int, created_at timestamptz)
      ON CONFLICT (project_id, index, key) DO UPDATE SET properties = EXCLUDED.properties,
        properties_size = EXCLUDED.properties_size, change = EXCLUDED.change
      RETURNING change)
    SELECT max(change) AS position FROM written`)
  return BigInt(row.position)
}
