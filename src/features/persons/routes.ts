// Persons of a project, to look up: events make and change them. The same calls below both names of a project.
import { errorCode } from '../../lib/error-code.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { ApiError, invalid, notFound } from '../../platform/http/errors.ts'
import { paged, type Page } from '../../platform/http/paging.ts'
import { ok, route } from '../../platform/http/route.ts'
import { conditionsOf } from './filters.ts'
import { presentPerson } from './present.ts'
import { countPersons, findPersonUuid, listPersons, listPersonSizes, listPersonValues } from './queries.ts'
import { Person, PersonQuery, PersonValues, PersonValuesQuery, type PersonRow } from './schema.ts'

const LISTED_DISTINCT_IDS = 100
const SHOWN_DISTINCT_IDS = 2_500
const MAX_VALUES = 20
const MAX_PAGE_CHARACTERS = 64 * 1024 * 1024

// PostgreSQL's words for a pattern that is none, and for a statement that was stopped.
const INVALID_PATTERN = '2201B'
const STOPPED = '57014'

const VALUES = {
  name: 'person values',
  rates: [
    { count: 60, window_ms: 60_000 },
    { count: 300, window_ms: 3_600_000 },
  ],
}

const RETRY_AFTER_S = '30'

export const personRoutes = [
  ...personRoutesBelow('/api/projects/:project_id'),
  ...personRoutesBelow('/api/environments/:project_id'),
]

function personRoutesBelow(base: '/api/projects/:project_id' | '/api/environments/:project_id') {
  return [
    route({
      method: 'GET',
      path: `${base}/persons/`,
      summary: 'List the persons of a project, newest first',
      scope: ['person:read', 'query:read'],
      level: 'member',
      may_time_out: true,
      query: PersonQuery,
      answers: { 200: paged(Person) },
      async handle({ db, project, query, page, paged }) {
        const { count, rows } = await findPage(db, project.id, query, page)
        return ok(paged(count, rows.map(presentPerson)))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/persons/values/`,
      summary: 'Values that a property of persons has',
      scope: ['person:read', 'query:read'],
      level: 'member',
      key_limit: VALUES,
      may_time_out: true,
      query: PersonValuesQuery,
      answers: { 200: PersonValues },
      async handle({ db, project, query: { key, value } }) {
        if (key === undefined) throw invalid('key', 'required', 'Name a property with `key`.')
        return ok(
          await withinTime(db, [], (tx) => listPersonValues(tx, project.id, key, value ?? null, MAX_VALUES)),
        )
      },
    }),

    route({
      method: 'GET',
      path: `${base}/persons/:id/`,
      summary: 'One person, by integer id or UUID',
      scope: ['person:read', 'query:read'],
      level: 'member',
      item: ({ db, project, params }) => getPerson(db, project.id, params.id),
      answers: { 200: Person },
      handle: async ({ item }) => ok(presentPerson(item)),
    }),
  ]
}

async function getPerson(db: Db, projectId: number, id: string): Promise<PersonRow> {
  const uuid = await findPersonUuid(db, projectId, id)
  const [row] = uuid === undefined ? [] : await listPersons(db, projectId, [uuid], SHOWN_DISTINCT_IDS)
  if (!row) throw notFound()
  return row
}

type FoundPage = { count: number; rows: PersonRow[] }

async function findPage(db: Db, projectId: number, query: PersonQuery, page: Page): Promise<FoundPage> {
  const conditions = conditionsOf(query)
  return withinTime(db, { count: 0, rows: [] }, async (tx) => {
    const sizes = await listPersonSizes(tx, projectId, conditions, page)
    assertReadable(sizes)
    const uuids = sizes.map(({ uuid }) => uuid)
    const rows = await listPersons(tx, projectId, uuids, LISTED_DISTINCT_IDS)
    return { count: await countPersons(tx, projectId, conditions), rows }
  })
}

/** Most questions look at every person, and a pattern can take its time over each. */
async function withinTime<Found>(db: Db, nothing: Found, find: (tx: Db) => Promise<Found>): Promise<Found> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run(sql`SET LOCAL statement_timeout = '20s'`)
      return find(tx)
    })
  } catch (error) {
    // As with filters of events, a pattern that cannot be read matches nothing.
    if (errorCode(error) === INVALID_PATTERN) return nothing
    if (errorCode(error) !== STOPPED) throw error
    const detail = 'The search ran too long and was stopped: narrow it.'
    throw new ApiError('query_timeout', detail, null, { 'retry-after': RETRY_AFTER_S })
  }
}

function assertReadable(sizes: readonly { properties_size: number }[]): void {
  const characters = sizes.reduce((sum, { properties_size }) => sum + properties_size, 0)
  if (characters <= MAX_PAGE_CHARACTERS) return
  throw invalid('limit', 'invalid_input', 'These persons are too large for one page: ask for fewer.')
}
