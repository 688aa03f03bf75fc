// What one commit takes. Each event is stored with the properties of its person, so a small request about somebody of whom
// much is known becomes a large write.
import type {
  Copied,
  EventStore,
  ProjectWrite,
  StoredEvent,
  Written,
} from '../../../platform/event-store/event-store.ts'

/** Characters. A write is held several times over: as events, as text and as bytes. */
const MAX_TEXT_AT_ONCE = 32 * 1024 * 1024

/** Copies are complete with the last part. Should one fail, those before it are known when they are sent again. */
export async function writeInParts(
  store: Pick<EventStore, 'write'>,
  writes: readonly ProjectWrite[],
  now: Date,
  copied: Copied | null,
): Promise<Written[]> {
  const parts = cutWrites(writes)
  const written: Written[] = []
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    written.push(...(await store.write(part, now, isLast ? copied : null)))
  }
  return written
}

/** In order, and each event once. What a project has besides events comes with the last of them. */
export function cutWrites(writes: readonly ProjectWrite[], max_text = MAX_TEXT_AT_ONCE): ProjectWrite[][] {
  const parts: ProjectWrite[][] = [[]]
  let room = max_text
  for (const { project_id, events, ...copies } of writes) {
    let from = 0
    for (const [index, event] of events.entries()) {
      const text = textOf(event)
      if (text > room && room < max_text) {
        if (index > from) parts.at(-1)!.push({ project_id, events: events.slice(from, index), ...NO_COPIES })
        parts.push([])
        from = index
        room = max_text
      }
      room -= text
    }
    parts.at(-1)!.push({ project_id, events: events.slice(from), ...copies })
  }
  return parts
}

export const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

const textOf = ({ properties, person_properties, elements_chain }: StoredEvent) =>
  properties.length + person_properties.length + elements_chain.length
