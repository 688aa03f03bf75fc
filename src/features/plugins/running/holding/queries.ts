// Events that wait for an app, as rows.
import type { Db } from '../../../../platform/db/database.ts'
import { sql } from '../../../../platform/db/sql.ts'
import type { Scope } from '../queries.ts'

export type NewHeldEvent = {
  config_id: number | null
  uuid: string
  timestamp: Date
  /** See passage.ts. */
  contents: string
  /** Those behind it do not wait for it. */
  alone: boolean
  due_at: Date
}

export type HeldRow = { id: string; contents: string; alone: boolean; attempts: number }

type HeldTotals = {
  project_id: number
  in_line: number
  alone: number
  length: number
  /** Whose app the last in line waits for. */
  config_id: number | null
}

/** By project: all, or one. */
export function listHeldTotals(db: Db, project_id: number | null = null): Promise<HeldTotals[]> {
  return db.rows(sql`
    SELECT project_id, count(*) FILTER (WHERE NOT alone)::int AS in_line, count(*) FILTER (WHERE alone)::int AS alone,
      sum(length(contents))::float8 AS length,
      (array_agg(plugin_config_id ORDER BY id DESC) FILTER (WHERE NOT alone))[1] AS config_id
    FROM plugin_held_event WHERE ${project_id}::int IS NULL OR project_id = ${project_id}
    GROUP BY project_id`)
}

export async function countHeldByConfig(
  db: Db,
  project_id: number,
  config_ids: readonly number[],
): Promise<Map<number, number>> {
  const rows = await db.rows<{ id: number; count: number }>(sql`
    SELECT plugin_config_id AS id, count(*)::int AS count FROM plugin_held_event
    WHERE project_id = ${project_id} AND plugin_config_id = ANY(${config_ids}::int[]) GROUP BY plugin_config_id`)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/**
 * Those that were added. A sender that got no answer sends again: what is held already, by the event store's rule for
 * repeats, is left out.
 */
export function insertHeldEvents(
  db: Db,
  project_id: number,
  events: readonly NewHeldEvent[],
  now: Date,
): Promise<Pick<HeldRow, 'contents' | 'alone'>[]> {
  const column = <Name extends keyof NewHeldEvent>(name: Name) => events.map((event) => event[name])
  return db.rows(sql`
    INSERT INTO plugin_held_event
      (project_id, plugin_config_id, uuid, timestamp, contents, alone, due_at, created_at)
    SELECT ${project_id}, config.id, added.uuid, added.timestamp, added.contents, added.alone, added.due_at, ${now}
    FROM unnest(${column('config_id')}::int[], ${column('uuid')}::uuid[], ${column('timestamp')}::timestamptz[],
      ${column('contents')}::text[], ${column('alone')}::boolean[], ${column('due_at')}::timestamptz[])
      WITH ORDINALITY AS added (config_id, uuid, timestamp, contents, alone, due_at, position)
    LEFT JOIN plugin_config config ON config.id = added.config_id AND config.project_id = ${project_id}
    WHERE NOT EXISTS (
      SELECT FROM plugin_held_event held WHERE held.project_id = ${project_id} AND held.uuid = added.uuid
        AND held.timestamp BETWEEN added.timestamp - interval '1 day' AND added.timestamp + interval '1 day')
    ORDER BY position
    RETURNING contents, alone`)
}

/** The first of the line. */
export function listLine(db: Db, project_id: number, count: number): Promise<HeldRow[]> {
  return db.rows(sql`
    SELECT id, contents, alone, attempts FROM plugin_held_event
    WHERE project_id = ${project_id} AND NOT alone ORDER BY id LIMIT ${count}`)
}

export function listDueAlone(db: Db, project_id: number, now: Date, count: number): Promise<HeldRow[]> {
  return db.rows(sql`
    SELECT id, contents, alone, attempts FROM plugin_held_event
    WHERE project_id = ${project_id} AND alone AND due_at <= ${now} ORDER BY id LIMIT ${count}`)
}

export async function deleteHeldEvents(db: Db, project_id: number, ids: readonly string[]): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_held_event WHERE project_id = ${project_id} AND id = ANY(${ids}::bigint[])`)
}

export type HeldAgain = Pick<HeldRow, 'id' | 'contents' | 'alone' | 'attempts'> & {
  config_id: number | null
  due_at: Date
}

export async function updateHeldEvents(
  db: Db,
  project_id: number,
  events: readonly HeldAgain[],
): Promise<void> {
  if (events.length === 0) return
  const column = <Name extends keyof HeldAgain>(name: Name) => events.map((event) => event[name])
  await db.run(sql`
    UPDATE plugin_held_event held SET plugin_config_id = config.id, contents = again.contents, alone = again.alone,
      attempts = again.attempts, due_at = again.due_at
    FROM unnest(${column('id')}::bigint[], ${column('config_id')}::int[], ${column('contents')}::text[],
      ${column('alone')}::boolean[], ${column('attempts')}::int[], ${column('due_at')}::timestamptz[])
      AS again (id, config_id, contents, alone, attempts, due_at)
    LEFT JOIN plugin_config config ON config.id = again.config_id AND config.project_id = ${project_id}
    WHERE held.project_id = ${project_id} AND held.id = again.id`)
}

/** Something about their app was edited: those that wait by themselves need not wait for their time. */
export async function hasten(db: Db, edited: Scope, now: Date): Promise<void> {
  const which =
    edited === 'all'
      ? sql`true`
      : 'config_id' in edited
        ? sql`plugin_config_id = ${edited.config_id}`
        : sql`plugin_config_id IN (SELECT id FROM plugin_config WHERE plugin_id = ${edited.plugin_id})`
  await db.run(sql`UPDATE plugin_held_event SET due_at = ${now} WHERE alone AND due_at > ${now} AND ${which}`)
}
