// The last move of events, as PostgreSQL remembers it, so that no server begins on half of them, or on those that were left
// behind.
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { EventStore } from '../event-store.ts'

type Engine = EventStore['engine']
export type MoveState = { target: Engine; started_at: Date; finished_at: Date | null }

const ENGINE_NAMES: Readonly<Record<Engine, string>> = { duckdb: 'DATA_DIR', clickhouse: 'ClickHouse' }

export function isEngine(name: unknown): name is Engine {
  return typeof name === 'string' && Object.hasOwn(ENGINE_NAMES, name)
}

/** The store of an installation with this CLICKHOUSE_URL. */
export function engineAt(clickhouse_url: string | null): Engine {
  return clickhouse_url === null ? 'duckdb' : 'clickhouse'
}

export async function findMove(db: Database): Promise<MoveState | null> {
  return (await db.row<MoveState>(sql`SELECT target, started_at, finished_at FROM event_move`)) ?? null
}

export async function beginMove(db: Database, target: Engine, now: Date): Promise<void> {
  await db.run(sql`
    INSERT INTO event_move (target, started_at) VALUES (${target}, ${now})
    ON CONFLICT (only_one) DO UPDATE SET target = EXCLUDED.target, started_at = EXCLUDED.started_at, finished_at = NULL`)
}

export async function finishMove(db: Database, now: Date): Promise<void> {
  await db.run(sql`UPDATE event_move SET finished_at = ${now}`)
}

export async function forgetMove(db: Database): Promise<void> {
  await db.run(sql`DELETE FROM event_move`)
}

/** Why no server may begin with this store; null when one may. */
export async function whyNotToOpen(db: Database, engine: Engine): Promise<string | null> {
  const move = await findMove(db)
  if (move === null) return null
  const { target, started_at, finished_at } = move
  const command = `longshore events move --to ${target}`
  if (finished_at === null) {
    if (target !== engine) return null
    return (
      `the move of events to ${ENGINE_NAMES[target]} that began at ${started_at.toISOString()} is not finished. ` +
      `Run \`${command}\` again, or give it up with \`longshore events move --forget\`.`
    )
  }
  if (target === engine) return null
  const setting = target === 'clickhouse' ? 'Set CLICKHOUSE_URL' : 'Unset CLICKHOUSE_URL'
  return (
    `events were moved to ${ENGINE_NAMES[target]} at ${finished_at.toISOString()}. ` +
    `${setting}, or go back to the events from before the move with \`longshore events move --forget\`.`
  )
}
