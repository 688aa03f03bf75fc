// Who wants to know that something was changed: the clockworks that keep what the database says in memory. A change is told in
// the transaction that makes it, so none is told that did not happen, and none that happened is lost when the process ends.
// Listeners of this process hear of it right after the commit, those of others through following.ts.
import { randomUUID } from 'node:crypto'
import type { Db } from './db/database.ts'
import { sql } from './db/sql.ts'

/** What changes are told of, and the id that goes with it. */
export const TOPICS = ['plugin', 'plugin-config', 'definitions', 'held-events'] as const

export type Topic = (typeof TOPICS)[number]

export type Change = { topic: Topic; id: number; project_id: number | null }

/**
 * `id` is null when anything of the topic may have changed: this process was cut off for too long to learn what.
 * `project_id`: the only project that the change concerns; undefined where there may be several. `is_own`: this process told it.
 */
type Listener = (id: number | null, project_id: number | undefined, is_own: boolean) => void

export const CHANNEL = 'longshore_changes'

export class Changes {
  /** What this process has told comes back to it, and is passed over. */
  readonly origin = randomUUID()
  readonly #listeners = new Map<Topic, Set<Listener>>()

  async tell(tx: Db, topic: Topic, id: number, project_id?: number): Promise<void> {
    await tx.run(sql`
      WITH told AS (
        INSERT INTO change (origin, topic, subject_id, project_id, told_at)
        VALUES (${this.origin}, ${topic}, ${id}, ${project_id ?? null}, now()))
      SELECT pg_notify(${CHANNEL}, concat_ws(' ', ${this.origin}::text, ${topic}::text, ${id}::text, ${project_id ?? null}::text))`)
    tx.afterCommit(() => this.hear({ topic, id, project_id: project_id ?? null }, true))
  }

  /** Until the function that is returned is called. */
  listen(topic: Topic, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  hear({ topic, id, project_id }: Change, is_own = false): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(id, project_id ?? undefined, is_own)
  }

  hearOfAnything(): void {
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener(null, undefined, false)
  }
}

/** What was told longer ago than this nobody can ask for any more. */
const KEPT = '1 hour'

export async function forgetOldChanges(db: Db): Promise<void> {
  await db.run(sql`DELETE FROM change WHERE told_at < now() - ${KEPT}::interval`)
}
