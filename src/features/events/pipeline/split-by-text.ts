// What one commit takes. Each event is stored with the properties of its person, so a small request about somebody of whom
// much is known becomes a large write.
import type { Copies, ProjectWrite, StoredEvent } from '../../../platform/event-store/event-store.ts'

/** Characters. A write is held several times over: as events, as text and as bytes; and meanwhile all others wait. */
export const MAX_TEXT_AT_ONCE = 8 * 1024 * 1024

/** A request as it is stored. `text` counts its characters. */
export type StoredRequest = {
  project_id: number
  /** Where it came from, if from outside. */
  address: string | null
  events: StoredEvent[]
  text: number
}

/** Events of one sender to one project stay in their order. */
export const orderKey = ({ project_id, address }: Pick<StoredRequest, 'project_id' | 'address'>) =>
  `${project_id} ${address ?? ''}`

export type Split<Request> = { at_once: Request[]; late: Request[] }

/** The smallest requests that one commit takes, in their order, and the others. */
export function splitByText<Request extends StoredRequest>(
  requests: readonly Request[],
  isBehind: (request: Request) => boolean,
  max_text = MAX_TEXT_AT_ONCE,
): Split<Request> {
  let room = max_text
  const small = new Set<Request>()
  for (const request of requests.toSorted((one, other) => one.text - other.text)) {
    if (request.text > room) break
    room -= request.text
    small.add(request)
  }
  const late = new Set<Request>()
  const behind = new Set<string>()
  for (const request of requests) {
    if (small.has(request) && !behind.has(orderKey(request)) && !isBehind(request)) continue
    behind.add(orderKey(request))
    late.add(request)
  }
  return { at_once: requests.filter((request) => !late.has(request)), late: [...late] }
}

/** By project, with what each has besides events. */
export function writesOf(
  requests: readonly StoredRequest[],
  copies: ReadonlyMap<number, Copies> = new Map(),
): ProjectWrite[] {
  const stored = new Map<number, StoredEvent[]>()
  for (const { project_id, events } of requests) {
    const before = stored.get(project_id)
    if (!before) stored.set(project_id, [...events])
    else for (const event of events) before.push(event)
  }
  return [...new Set([...stored.keys(), ...copies.keys()])].map((project_id) => ({
    project_id,
    events: stored.get(project_id) ?? [],
    ...(copies.get(project_id) ?? NO_COPIES),
  }))
}

/** In order, and each event once; one that is larger than a part is one. */
export function cutEvents(
  events: readonly StoredEvent[],
  max_text = MAX_TEXT_AT_ONCE,
  weigh = textOf,
): { events: StoredEvent[]; text: number }[] {
  const parts: { events: StoredEvent[]; text: number }[] = []
  for (const event of events) {
    const text = weigh(event)
    const last = parts.at(-1)
    if (!last || last.text + text > max_text) parts.push({ events: [event], text })
    else {
      last.events.push(event)
      last.text += text
    }
  }
  return parts
}

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

export function textOf({ properties, person_properties, elements_chain }: StoredEvent): number {
  return properties.length + person_properties.length + elements_chain.length
}
