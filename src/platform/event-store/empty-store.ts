// A store that holds nothing: for whoever wants to know whether a question can be asked.
import type { EventStore } from './event-store.ts'

export const emptyStore: Pick<EventStore, 'engine' | 'query'> = {
  engine: 'duckdb',
  query: () => Promise.resolve({ rows: [], columns: [] }),
}
