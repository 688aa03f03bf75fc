// Which events a destination gets, `filters`: here by name; conditions on properties are kept.

type EventFilter = { id?: unknown; [field: string]: unknown }

const eventsOf = (filters: Record<string, unknown> | null): readonly EventFilter[] =>
  Array.isArray(filters?.events) ? (filters.events as EventFilter[]) : []

export const eventNames = (filters: Record<string, unknown> | null): string[] =>
  eventsOf(filters).flatMap(({ id }) => (typeof id === 'string' ? [id] : []))

/** Null when no event is named: then it gets all. */
export function withEventNames(
  filters: Record<string, unknown> | null,
  names: readonly string[],
): Record<string, unknown> | null {
  if (names.length === 0) return null
  const before = eventsOf(filters)
  return {
    ...filters,
    events: names.flatMap((name) => {
      const kept = before.filter(({ id }) => id === name)
      return kept.length > 0 ? kept : [{ id: name }]
    }),
  }
}
