// How often each event came and when last, counted from the stored events when somebody asks, and only those that came
// since the last time. What the stream lost in a crash is found here too, and what was stored before there was a catalogue.
import type { Query } from '../../hogql/ast.ts'
import { compileQuery } from '../../hogql/compile.ts'
import { parseSelect } from '../../hogql/parser.ts'
import { isObject } from '../../lib/json-object.ts'
import type { StoreValue } from '../../platform/event-store/event-store.ts'
import type { Services } from '../../platform/services.ts'
import { allOf, compare, constant, field } from '../events/tree.ts'
import { claimCount, countTo, type CountedEvent } from './count-queries.ts'
import { learn, readKnown } from './learn.ts'
import { isName, MAX_EVENTS } from './limits.ts'
import { addNews, noNews } from './news.ts'

const COUNTS = parseSelect(`
  SELECT event, count(), min(_inserted_at), max(_inserted_at) FROM events
  GROUP BY event ORDER BY count() DESC LIMIT {max}`)
const NEWEST = parseSelect(
  `SELECT event, properties FROM events WHERE length(properties) < {length} LIMIT {max}`,
)

/** The newest events are looked at for properties that the stream did not get to write down. */
const SAMPLE = 2_000
const MAX_SAMPLE_LENGTH = 20_000
const PAUSE_MS = 60_000

type CountServices = Pick<Services, 'db' | 'eventStore' | 'log' | 'now'>
type CountedProject = { id: number; timezone: string }

/**
 * Brings the figures up to now, unless somebody did so within the last minute; `at_once` even then. Without the store,
 * they stay as they are.
 */
export async function refreshCounts(
  services: CountServices,
  project: CountedProject,
  { at_once = false }: { at_once?: boolean } = {},
): Promise<void> {
  const { db, eventStore, log, now } = services
  try {
    const from = await claimCount(db, project.id, now(), at_once ? 0 : PAUSE_MS)
    if (from === null) return
    const to = await eventStore.lastPosition(project.id)
    if (to <= from) return
    await findProperties(services, project, { from: Math.max(from, to - SAMPLE), to })
    const counted = await countEvents(services, project, { from, to })
    await countTo(db, project.id, { from, to }, counted, now())
  } catch (error) {
    log.warn({ err: error, project_id: project.id }, 'definitions: events were not counted')
  }
}

type Stretch = { from: number; to: number }

async function countEvents(
  services: CountServices,
  project: CountedProject,
  stretch: Stretch,
): Promise<CountedEvent[]> {
  const rows = await ask(services, project, COUNTS, stretch, { max: MAX_EVENTS })
  return rows
    .map(([name, volume, first, last]) => ({
      name: String(name),
      volume: Number(volume),
      first_seen_at: String(first),
      last_seen_at: String(last),
    }))
    .filter(({ name }) => isName(name))
}

async function findProperties(
  services: CountServices,
  project: CountedProject,
  stretch: Stretch,
): Promise<void> {
  const { db, now } = services
  const rows = await ask(services, project, NEWEST, stretch, { max: SAMPLE, length: MAX_SAMPLE_LENGTH })
  const known = await readKnown(db, [project.id])
  const news = noNews()
  for (const [event, text] of rows) {
    const properties: unknown = JSON.parse(String(text))
    if (isObject(properties))
      addNews(news, known.get(project.id), { event: String(event), properties }, now())
  }
  await learn(db, new Map([[project.id, news]]), known, now())
}

/** Rows of a question about the events at these positions. */
async function ask(
  { eventStore, now }: CountServices,
  { id, timezone }: CountedProject,
  query: Query,
  { from, to }: Stretch,
  values: Readonly<Record<string, number>>,
): Promise<readonly (readonly StoreValue[])[]> {
  const where = allOf([
    compare(field('seq'), '>', constant(from)),
    compare(field('seq'), '<=', constant(to)),
  ])!
  const placeholders = new Map(Object.entries(values).map(([name, value]) => [name, constant(value)]))
  const context = {
    project_id: id,
    timezone,
    now: now(),
    placeholders,
    by_position: true,
    exported: { where },
  }
  const { sql, parameters } = compileQuery(query, context, eventStore.engine)
  const max_rows = values.max!
  return (await eventStore.query({ project_id: id, sql, parameters, timezone: 'UTC', max_rows })).rows
}
