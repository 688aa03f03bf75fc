// The events listing, kept for clients of old: a list, one event, and values of a property.
import { ok, route } from '../../platform/http/route.ts'
import { answerCsv, answerJson } from './answer.ts'
import { listEvents } from './listing/list.ts'
import { readFormat, type Format } from './listing/parameters.ts'
import { recordCells, recordText, SCALAR_FIELDS, weightOfRow } from './listing/record.ts'
import { getEventRow } from './listing/retrieve.ts'
import { findPersonsOfRows } from './listing/rows.ts'
import {
  Event,
  EventsAnswer,
  FormatQuery,
  ListQuery,
  STREAM_MESSAGES,
  StreamQuery,
  ValuesAnswer,
  ValuesQuery,
} from './listing/schema.ts'
import { findValues, valuesTable } from './listing/values.ts'
import { streamEvents } from './stream/stream.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const CSV = ['text/csv']
const READING = {
  name: 'events',
  rates: [
    { count: 240, window_ms: 60_000 },
    { count: 1200, window_ms: 3_600_000 },
  ],
}
const VALUES = {
  name: 'event values',
  rates: [
    { count: 60, window_ms: 60_000 },
    { count: 300, window_ms: 3_600_000 },
  ],
}

export const eventRoutes = [
  ...eventRoutesAt('/api/projects/:project_id'),
  ...eventRoutesAt('/api/environments/:project_id'),
]

function eventRoutesAt(base: Base) {
  return [
    listRoute(`${base}/events/`, null),
    listRoute(`${base}/events.csv`, 'csv'),
    listRoute(`${base}/events.json`, 'json'),

    route({
      method: 'GET',
      path: `${base}/events/values/`,
      summary: 'Values that a property has had in the last days',
      scope: 'query:read',
      level: 'member',
      key_limit: VALUES,
      may_time_out: true,
      also_answers: CSV,
      query: ValuesQuery.loose(),
      answers: { 200: ValuesAnswer },
      async handle({ services, project, query, request }) {
        const format = readFormat(query, request.headers, null)
        const values = await findValues(services, project, query)
        // Whoever asks with a cookie must not get what a proxy kept for another.
        const headers = { 'cache-control': 'max-age=10', vary: 'Authorization, Cookie, Accept' }
        if (format === 'json') return { ...ok(values), headers }
        return { ...(await answerCsv(valuesTable(values))), headers }
      },
    }),

    route({
      method: 'GET',
      path: `${base}/events/stream/`,
      summary: 'Events as they are stored',
      scope: 'query:read',
      level: 'member',
      key_limit: READING,
      may_time_out: true,
      query: StreamQuery,
      messages: STREAM_MESSAGES,
      answers: { 200: null },
      handle: (context) => streamEvents(context),
    }),

    route({
      method: 'GET',
      path: `${base}/events/:id/`,
      summary: 'One event',
      scope: 'query:read',
      level: 'member',
      key_limit: READING,
      may_time_out: true,
      also_answers: CSV,
      query: FormatQuery,
      answers: { 200: Event },
      async handle({ services, db, project, params, query, request }) {
        const format = readFormat(query, request.headers, null)
        const row = await getEventRow(services, project, params.id)
        const persons = await findPersonsOfRows(db, project.id, [row])
        if (format === 'json') return answerJson(recordText(row, persons))
        const cellsOf = () => [recordCells(row, persons)]
        return answerCsv({ rows: [row], weightOf: weightOfRow, cellsOf, header_of_nothing: SCALAR_FIELDS })
      },
    }),
  ]
}

function listRoute(path: `${Base}/events/` | `${Base}/events.${Format}`, suffix: Format | null) {
  return route({
    method: 'GET',
    path,
    summary: 'List events, newest first',
    scope: 'query:read',
    level: 'member',
    key_limit: READING,
    may_time_out: true,
    also_answers: CSV,
    query: ListQuery,
    answers: { 200: EventsAnswer },
    handle: (context) => listEvents(context, suffix),
  })
}
