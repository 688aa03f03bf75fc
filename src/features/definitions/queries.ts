// SQL statements that read and change definitions for the API. Those of the stream are in write-queries.ts.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql, type Statement } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { EventDefinitionRow, PropertyDefinitionRow } from './schema.ts'

export function listEventDefinitions(
  db: Db,
  where: Statement,
  order: Statement,
  page: Page,
): Promise<EventDefinitionRow[]> {
  return db.rows(sql`
    SELECT * FROM event_definition WHERE ${where} ORDER BY ${order} LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countEventDefinitions(db: Db, where: Statement): Promise<number> {
  return (
    await db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM event_definition WHERE ${where}`)
  ).count
}

export async function findEventDefinition(
  db: Db,
  projectId: number,
  id: string,
): Promise<EventDefinitionRow | undefined> {
  if (!isUuid(id)) return undefined
  return db.row(sql`SELECT * FROM event_definition WHERE project_id = ${projectId} AND id = ${id}`)
}

export function findEventDefinitionByName(
  db: Db,
  projectId: number,
  name: string,
): Promise<EventDefinitionRow | undefined> {
  return db.row(sql`SELECT * FROM event_definition WHERE project_id = ${projectId} AND name = ${name}`)
}

export function lockEventDefinition(db: Db, projectId: number, id: string): Promise<EventDefinitionRow> {
  return db.only(
    sql`SELECT * FROM event_definition WHERE project_id = ${projectId} AND id = ${id} FOR NO KEY UPDATE`,
  )
}

export function updateEventDefinition(
  db: Db,
  projectId: number,
  id: string,
  fields: Record<string, unknown>,
): Promise<EventDefinitionRow> {
  return db.only(sql`
    UPDATE event_definition SET ${assignments(fields)} WHERE project_id = ${projectId} AND id = ${id} RETURNING *`)
}

export function deleteEventDefinition(db: Db, projectId: number, id: string): Promise<EventDefinitionRow> {
  return db.only(sql`DELETE FROM event_definition WHERE project_id = ${projectId} AND id = ${id} RETURNING *`)
}

/** `is_seen` is a condition, or NULL. */
export function listPropertyDefinitions(
  db: Db,
  where: Statement,
  is_seen: Statement,
  page: Page,
): Promise<PropertyDefinitionRow[]> {
  return db.rows(sql`
    SELECT *, (${is_seen})::boolean AS is_seen FROM property_definition WHERE ${where}
    ORDER BY is_seen DESC NULLS LAST, verified DESC, name LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countPropertyDefinitions(db: Db, where: Statement): Promise<number> {
  return (
    await db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM property_definition WHERE ${where}`,
    )
  ).count
}

export async function findPropertyDefinition(
  db: Db,
  projectId: number,
  id: string,
): Promise<PropertyDefinitionRow | undefined> {
  if (!isUuid(id)) return undefined
  return db.row(sql`
    SELECT *, NULL::boolean AS is_seen FROM property_definition WHERE project_id = ${projectId} AND id = ${id}`)
}

export function lockPropertyDefinition(
  db: Db,
  projectId: number,
  id: string,
): Promise<PropertyDefinitionRow> {
  return db.only(sql`
    SELECT *, NULL::boolean AS is_seen FROM property_definition WHERE project_id = ${projectId} AND id = ${id}
    FOR NO KEY UPDATE`)
}

export function updatePropertyDefinition(
  db: Db,
  projectId: number,
  id: string,
  fields: Record<string, unknown>,
): Promise<PropertyDefinitionRow> {
  return db.only(sql`
    UPDATE property_definition SET ${assignments(fields)} WHERE project_id = ${projectId} AND id = ${id}
    RETURNING *, NULL::boolean AS is_seen`)
}

export function deletePropertyDefinition(
  db: Db,
  projectId: number,
  id: string,
): Promise<PropertyDefinitionRow> {
  return db.only(sql`
    DELETE FROM property_definition WHERE project_id = ${projectId} AND id = ${id} RETURNING *, NULL::boolean AS is_seen`)
}

/** It leaves the events that have had it as well, and comes back with the next of them. */
export async function forgetProperty(db: Db, projectId: number, name: string): Promise<void> {
  await db.run(sql`
    UPDATE event_definition SET properties = array_remove(properties, ${name}::text)
    WHERE project_id = ${projectId} AND ${name}::text = ANY(properties)`)
}

/** Those of these events that have had the property. */
export async function eventsWithProperty(
  db: Db,
  projectId: number,
  names: readonly string[],
  property: string,
): Promise<Set<string>> {
  const rows = await db.rows<{ name: string }>(sql`
    SELECT name FROM event_definition
    WHERE project_id = ${projectId} AND name = ANY(${names}::text[]) AND ${property}::text = ANY(properties)`)
  return new Set(rows.map(({ name }) => name))
}
