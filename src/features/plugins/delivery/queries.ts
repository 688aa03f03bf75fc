// Cursors of deliveries and what waits to be tried again. A stream is one function of one config.
import { isParentGone, type Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import { isHeld, type Lease } from '../running/lease-queries.ts'
import type { DeliveryMethod } from './methods.ts'

export type StreamKey = { project_id: number; config_id: number; method: DeliveryMethod }

export type RetryRow = {
  id: string
  seqs: number[]
  /** Sealed. */
  request: string | null
  /** How often it was tried. */
  attempt: number
}

export type NewRetry = Omit<RetryRow, 'attempt'> & { due_at: Date }

export type Waiting = { count: number; next_due_at: Date | null }

/** Made at `position` when the stream has none yet; null when the config has just been deleted. */
export async function openCursor(
  db: Db,
  { project_id, config_id, method }: StreamKey,
  position: number,
): Promise<number | null> {
  try {
    const { cursor } = await db.only<{ cursor: number }>(sql`
      INSERT INTO plugin_delivery AS d (plugin_config_id, project_id, method, cursor)
      VALUES (${config_id}, ${project_id}, ${method}, ${position})
      ON CONFLICT (plugin_config_id, method) DO UPDATE SET cursor = d.cursor
      RETURNING cursor::float8 AS cursor`)
    return cursor
  } catch (error) {
    if (isParentGone(error)) return null
    throw error
  }
}

export async function moveCursor(
  db: Db,
  { project_id, config_id, method }: StreamKey,
  cursor: number,
): Promise<boolean> {
  const moved = await db.run(sql`
    UPDATE plugin_delivery SET cursor = ${cursor}
    WHERE plugin_config_id = ${config_id} AND project_id = ${project_id} AND method = ${method}`)
  return moved > 0
}

/** After their first try. */
export async function insertRetries(
  db: Db,
  { project_id, config_id, method }: StreamKey,
  retries: readonly NewRetry[],
  now: Date,
): Promise<void> {
  for (const { id, seqs, request, due_at } of retries) {
    await db.run(sql`
      INSERT INTO plugin_delivery_retry
        (id, project_id, plugin_config_id, method, seqs, request, attempt, due_at, created_at)
      VALUES (${id}, ${project_id}, ${config_id}, ${method}, ${seqs}, ${request}, 1, ${due_at}, ${now})`)
  }
}

export async function countRetries(db: Db, { project_id, config_id, method }: StreamKey): Promise<Waiting> {
  return await db.only<Waiting>(sql`
    SELECT count(*)::integer AS count, min(due_at) AS next_due_at FROM plugin_delivery_retry
    WHERE plugin_config_id = ${config_id} AND project_id = ${project_id} AND method = ${method}`)
}

export async function listDueRetries(
  db: Db,
  { project_id, config_id, method }: StreamKey,
  count: number,
  now: Date,
): Promise<RetryRow[]> {
  return await db.rows<RetryRow>(sql`
    SELECT id, seqs::float8[] AS seqs, request, attempt FROM plugin_delivery_retry
    WHERE plugin_config_id = ${config_id} AND project_id = ${project_id} AND method = ${method}
      AND due_at <= ${now}
    ORDER BY due_at LIMIT ${count}`)
}

/** False when it is gone, or another process works for the project by now. */
export async function updateRetry(
  db: Db,
  lease: Lease,
  { id, request, attempt }: Omit<RetryRow, 'seqs'>,
  due_at: Date,
): Promise<boolean> {
  const updated = await db.run(sql`
    UPDATE plugin_delivery_retry SET request = ${request}, attempt = ${attempt}, due_at = ${due_at}
    WHERE id = ${id} AND project_id = ${lease.project_id} AND ${isHeld(lease)}`)
  return updated > 0
}

export async function deleteRetry(db: Db, lease: Lease, id: string): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_delivery_retry
    WHERE id = ${id} AND project_id = ${lease.project_id} AND ${isHeld(lease)}`)
}
