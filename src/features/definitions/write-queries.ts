// The SQL statements of the stream: few per flush, each about many rows of many projects. Others are in queries.ts.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PropertyType } from './property-type.ts'

export type NewEvent = { project_id: number; id: string; name: string; properties: readonly string[] }
export type NewProperty = {
  project_id: number
  id: string
  type: 'event' | 'person' | 'group'
  group_type_index: number
  name: string
  property_type: PropertyType | null
}

export function readKnownEvents(
  db: Db,
  projectIds: readonly number[],
): Promise<{ project_id: number; name: string; properties: string[] }[]> {
  return db.rows(
    sql`SELECT project_id, name, properties FROM event_definition WHERE project_id = ANY(${projectIds})`,
  )
}

/** `group_type` is the name of its type of groups. */
export function readKnownProperties(
  db: Db,
  projectIds: readonly number[],
): Promise<
  { project_id: number; type: string; group_type: string | null; name: string; has_type: boolean }[]
> {
  return db.rows(sql`
    SELECT property.project_id, type, group_type.name AS group_type, property.name,
      property_type IS NOT NULL AS has_type
    FROM property_definition AS property LEFT JOIN group_type
      ON group_type.project_id = property.project_id AND group_type.index = property.group_type_index
    WHERE property.project_id = ANY(${projectIds})`)
}

/** Those that are there get the properties that they lack. In order, here and below: two processes never wait for each other. */
export async function writeEvents(db: Db, rows: readonly NewEvent[], now: Date): Promise<void> {
  await db.run(sql`
    INSERT INTO event_definition (project_id, id, name, properties, created_at, updated_at)
    SELECT project_id, made.id, made.name, made.properties, ${now}, ${now}
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS made (project_id integer, id uuid, name text, properties text[])
    JOIN project ON project.id = project_id ORDER BY project_id, made.name
    ON CONFLICT (project_id, name) DO UPDATE SET properties = event_definition.properties || ARRAY(
      SELECT unnest(excluded.properties) EXCEPT SELECT unnest(event_definition.properties))`)
}

/** Those that are there without a type get it. */
export async function writeProperties(db: Db, rows: readonly NewProperty[], now: Date): Promise<void> {
  await db.run(sql`
    INSERT INTO property_definition (project_id, id, type, group_type_index, name, property_type, created_at, updated_at)
    SELECT project_id, made.id, type, group_type_index, made.name, property_type, ${now}, ${now}
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS made (project_id integer, id uuid, type text, group_type_index smallint, name text, property_type text)
    JOIN project ON project.id = project_id ORDER BY project_id, type, group_type_index, made.name
    ON CONFLICT (project_id, type, group_type_index, name) DO UPDATE SET property_type = excluded.property_type
    WHERE property_definition.property_type IS NULL AND excluded.property_type IS NOT NULL`)
}
