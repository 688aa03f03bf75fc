// Sample data for a project that has no events yet, so that there is something to look at and to export.
import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { ApiError } from '../../../platform/http/errors.ts'
import { ErrorAnswer } from '../../../platform/http/openapi.ts'
import { route } from '../../../platform/http/route.ts'
import { recordActivity } from '../../activity-log/record.ts'
import { fillWithSample, SAMPLE_EVENTS, whyNoSample } from './fill.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const MAX_SEED = 2 ** 32 - 1
/** Each is a job that stands in line with those of others. */
const RATES = [{ count: 10, window_ms: 3_600_000 }]

const SampleComing = z
  .object({ events: z.int().describe('How many are coming, in the background.') })
  .meta({ id: 'SampleComing' })

export const sampleDataRoutes = [
  sampleDataRoute('/api/projects/:project_id'),
  sampleDataRoute('/api/environments/:project_id'),
]

function sampleDataRoute(base: Base) {
  return route({
    method: 'POST',
    path: `${base}/sample_data/`,
    summary: 'Fill the project with sample events; 409 once it has events of its own',
    scope: 'project:write',
    level: 'admin',
    may_time_out: true,
    answers: { 202: SampleComing, 409: ErrorAnswer },
    async handle(context) {
      const { services, db, project, now } = context
      services.throttle.take('sample data', String(project.id), RATES, now)
      const reason = await whyNoSample(services, project)
      if (reason !== null) throw new ApiError('project_has_events', reason)
      await db.transaction(async (tx) => {
        const data = { project_id: project.id, seed: randomInt(MAX_SEED), end: now.toISOString() }
        await services.jobs.enqueue(tx, fillWithSample, data)
        await recordActivity(tx, context, {
          organization_id: project.organization_id,
          project_id: project.id,
          scope: 'Project',
          activity: 'updated',
          item_id: String(project.id),
          name: project.name,
          changes: [
            { type: 'Project', action: 'created', field: 'sample_data', before: null, after: SAMPLE_EVENTS },
          ],
        })
      })
      return { status: 202 as const, body: { events: SAMPLE_EVENTS } }
    },
  })
}
