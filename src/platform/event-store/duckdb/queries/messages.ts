// What the main thread asks a query process.
import type { StoreAnswer, StoreQuery, StoreValue } from '../../event-store.ts'
import type { Manifest, Segment } from '../segments/manifest.ts'
import type { Rewrite } from '../segments/rewrite.ts'

export type QueryOptions = {
  /** Folder of the event store. */
  folder: string
  spill: string
  memory_mb: number
  threads: number
  timeout_ms: number
  /** Those who answer requests go before: from 0, like them, to 19. */
  priority: number
}

export type Part = { rows: readonly (readonly StoreValue[])[]; rest: number | null }

export type QueryCalls = {
  /**
   * Long answers come in parts, so that receiving one never blocks the main thread: call `more` until none is left.
   * Without a manifest, the project has the files it had when this process was last called.
   */
  query(query: StoreQuery, manifest: Manifest | null): Part & Pick<StoreAnswer, 'columns' | 'sources'>
  more(rest: number): Part
  /** Writes a file of the project again. Only a process of its own is asked for this, which answers no questions. */
  rewrite(project_id: number, order: Rewrite): Segment
}
