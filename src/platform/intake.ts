// The way in for events that the server makes itself: the same as for those of clients. Filled by whoever opens ingestion,
// which stands above the services.
import type { JsonObject } from '../lib/json-object.ts'

export type TakenEvent = {
  uuid: string
  event: string
  distinct_id: string
  properties: JsonObject
  /** Microseconds since 1970. */
  timestamp: bigint
  created_at: bigint
}

type Take = (project_id: number, events: readonly TakenEvent[], bytes: number) => Promise<void>

export class Intake {
  #take: Take | null = null

  open(take: Take): void {
    this.#take = take
  }

  /** Resolves when every event is durable. Events of a project that is gone are left out. */
  async accept(project_id: number, events: readonly TakenEvent[], bytes: number): Promise<void> {
    if (this.#take === null) throw new Error('no ingestion is open in this process')
    await this.#take(project_id, events, bytes)
  }
}
