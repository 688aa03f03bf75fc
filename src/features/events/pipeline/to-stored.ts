// From the requests of a batch to the rows that are stored of them.
import { Breather } from '../../../lib/breather.ts'
import { nobody, type ProjectEvent } from '../project-event.ts'
import type { ProjectRow } from '../../projects/schema.ts'
import { textOf, type StoredRequest } from './split-by-text.ts'
import { toStoredEvent } from './store-form.ts'

/** With the persons of its events. */
export type Changed<Waiting> = { waiting: Waiting; events: readonly ProjectEvent[] }
export type Stored<Waiting> = StoredRequest & { waiting: Waiting }

/** `observe` sees each event. */
export async function toStored<Waiting extends { project: ProjectRow; address: string | null }>(
  requests: readonly Changed<Waiting>[],
  observe: (event: ProjectEvent) => void,
): Promise<Stored<Waiting>[]> {
  const breather = new Breather()
  const stored: Stored<Waiting>[] = []
  for (const { waiting, events } of requests) {
    const { project, address } = waiting
    const request: Stored<Waiting> = { waiting, project_id: project.id, address, events: [], text: 0 }
    for (const event of events) {
      if (breather.isDue) await breather.take()
      const row = toStoredEvent(event, event.has_person, event.person ?? nobody(event))
      request.events.push(row)
      request.text += textOf(row)
      observe(event)
    }
    stored.push(request)
  }
  return stored
}
