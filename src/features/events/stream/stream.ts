// GET …/events/stream/: events as they are stored, filtered like the listing.
import type { PositionQuery } from '../../../platform/http/live/position.ts'
import { readPosition } from '../../../platform/http/live/position.ts'
import { follow } from '../../../platform/http/live/follow.ts'
import { live } from '../../../platform/http/live/live-answer.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { lastText, type GivenQuery } from '../listing/parameters.ts'
import type { AskedProject } from '../run-query.ts'
import { EventTail } from './tail.ts'

export type StreamContext = {
  services: Services
  project: AskedProject
  request: RequestFacts
  query: GivenQuery & PositionQuery
}

const FILTERS = ['event', 'distinct_id', 'person_id', 'properties', 'where']

export async function streamEvents({ services, project, request, query }: StreamContext) {
  const after = readPosition(query, request.headers)
  const last = await services.eventStore.lastPosition(project.id)
  const tail = new EventTail(services, project, query, last)
  await tail.assertSense()
  const key = `events ${project.id} ${JSON.stringify(FILTERS.map((name) => lastText(query, name)))}`
  return live(project.id, (connection) =>
    // A position that was never given out would wait for events that come years later.
    follow(services.looks, connection, key, () => tail, after === null ? null : Math.min(after, last)),
  )
}
