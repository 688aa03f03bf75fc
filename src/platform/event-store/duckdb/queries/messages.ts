// What the main thread asks a query process.
import type { StoreAnswer, StoreQuery, StoreValue } from '../../event-store.ts'
import type { Manifest } from '../segments/manifest.ts'

export type QueryOptions = {
  /** Folder of the event store. */
  folder: string
  spill: string
  memory_mb: number
  threads: number
  timeout_ms: number
}

export type Part = { rows: readonly (readonly StoreValue[])[]; rest: number | null }

export type QueryCalls = {
  /**
   * Long answers come in parts, so that receiving one never blocks the main thread: call `more` until none is left.
   * Without a manifest, the project has the files it had when this process was last called.
   */
  query(query: StoreQuery, manifest: Manifest | null): Part & Pick<StoreAnswer, 'columns'>
  more(rest: number): Part
}
