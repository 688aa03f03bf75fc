// The SQL statements that read what changed, by the position of the change. Not by project: copies are made of all.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'

// What an id and the rest of a row take besides properties, in characters.
const ROW_SIZE = 300

/** The next changes in order, and about how many characters each comes to. */
export function listChanges(
  db: Db,
  after: bigint,
  until: bigint,
  limit: number,
): Promise<{ change: string; size: number }[]> {
  return db.rows(sql`
    (SELECT change, properties_size + ${ROW_SIZE}::int AS size FROM person
      WHERE change > ${after} AND change <= ${until} ORDER BY change LIMIT ${limit})
    UNION ALL
    (SELECT change, ${ROW_SIZE}::int FROM person_distinct_id
      WHERE change > ${after} AND change <= ${until} ORDER BY change LIMIT ${limit})
    UNION ALL
    (SELECT change, properties_size + ${ROW_SIZE}::int FROM group_of_project
      WHERE change > ${after} AND change <= ${until} ORDER BY change LIMIT ${limit})
    ORDER BY change LIMIT ${limit}`)
}

/** `created_at` in microseconds, `properties` as JSON text; likewise below. */
export function listChangedPersons(
  db: Db,
  after: bigint,
  until: bigint,
): Promise<
  {
    project_id: number
    id: string
    is_identified: boolean
    is_merged: boolean
    created_at: string
    properties: string
    version: number
  }[]
> {
  return db.rows(sql`
    SELECT project_id, uuid AS id, is_identified, merged_into IS NOT NULL AS is_merged,
      (extract(epoch FROM created_at) * 1000000)::bigint AS created_at, properties::text AS properties, version
    FROM person WHERE change > ${after} AND change <= ${until} ORDER BY change`)
}

export function listChangedIds(
  db: Db,
  after: bigint,
  until: bigint,
): Promise<{ project_id: number; distinct_id: string; person_id: string; version: number }[]> {
  return db.rows(sql`
    SELECT project_id, distinct_id, person AS person_id, version FROM person_distinct_id
    WHERE change > ${after} AND change <= ${until} ORDER BY change`)
}

export function listChangedGroups(
  db: Db,
  after: bigint,
  until: bigint,
): Promise<{ project_id: number; index: number; key: string; created_at: string; properties: string }[]> {
  return db.rows(sql`
    SELECT project_id, index, key, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at,
      properties::text AS properties
    FROM group_of_project WHERE change > ${after} AND change <= ${until} ORDER BY change`)
}
