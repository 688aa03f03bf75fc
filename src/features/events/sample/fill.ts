// Fills a project with sample events, in the background and by way of normal ingestion, as long as it has no others.
import { parseSelect } from '../../../hogql/parser.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import type { Services } from '../../../platform/services.ts'
import { findProjectById } from '../../projects/queries.ts'
import { runQuery, type AskedProject } from '../run-query.ts'
import { SAMPLE_EVENT_BYTES, sampleEvents } from './sample-events.ts'

/** What one call brings, … */
export const SAMPLE_EVENTS = 5_000
/** … and what a project can have of it. */
export const MAX_SAMPLE_EVENTS = 20_000
const DAYS = 14
/** Small enough that events of clients come in between. */
const BATCH_EVENTS = 500
const MARK = '$sample_data'

const FIRST_OF_ITS_OWN = `select 1 from events where properties.${MARK} is null limit 1`

/** Null: sample events can come. */
export async function whyNoSample(services: Services, project: AskedProject): Promise<string | null> {
  const last = await services.eventStore.lastPosition(project.id)
  if (last === 0) return null
  const { rows } = await runQuery(services, project, { query: parseSelect(FIRST_OF_ITS_OWN), max_rows: 1 })
  if (rows.length > 0) return 'The project has events of its own: sample data would mix with them.'
  return last + SAMPLE_EVENTS > MAX_SAMPLE_EVENTS
    ? 'The project has as much sample data as it can have.'
    : null
}

/** The same data gives the same events, so that a job that was cut off stores none twice. */
export const fillWithSample = job<{ project_id: number; seed: number; end: string }>({
  name: 'fill-with-sample-data',
  async handle(services, { project_id, seed, end }) {
    const project = await findProjectById(services.db, project_id)
    // Asked again: jobs run one after the other, requests do not.
    if (!project || (await whyNoSample(services, project)) !== null) return
    const events = sampleEvents({ count: SAMPLE_EVENTS, seed, days: DAYS, end: new Date(end) })
    for (const batch of batchesOf(events)) {
      const created_at = BigInt(services.now().getTime()) * 1000n
      const marked = batch.map((event) => ({
        ...event,
        created_at,
        properties: { ...event.properties, [MARK]: true },
      }))
      await services.intake.accept(project_id, marked, marked.length * SAMPLE_EVENT_BYTES)
    }
  },
})

function* batchesOf<Item>(items: Iterable<Item>): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    if (batch.push(item) < BATCH_EVENTS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
