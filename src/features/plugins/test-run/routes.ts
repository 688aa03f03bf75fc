// Trying out a plugin: its code runs, and nothing comes of it.
import { ok, route } from '../../../platform/http/route.ts'
import { addressIn } from '../address.ts'
import type { Family } from '../families.ts'
import { MAX_SOURCE_BODY_BYTES } from '../editing/routes.ts'
import { TestRequest, TestResult } from './schema.ts'
import { testPlugin } from './test-plugin.ts'

export function pluginTestRoutes(family: Family) {
  return [
    route({
      method: 'POST',
      path: `/api/organizations/:organization_id/${family}/:id/test/`,
      summary:
        'Run a plugin on one event, or one of its jobs or schedules, without storing or sending anything',
      scope: 'plugin:write',
      level: 'member',
      is_question: true,
      item: addressIn(family).toTest,
      body: TestRequest,
      examples: {
        'Try it on an event': {
          event: { event: 'order paid', distinct_id: 'ada', properties: { ssn: '1' } },
        },
        'Try a job': { job: { type: 'retry', payload: { batch: 7 } } },
        'Try a schedule': { schedule: 'runEveryMinute', fetch: true },
        'Try code before it is saved': {
          event: { event: 'order paid', properties: { ssn: '1' } },
          files: {
            'index.ts': 'export const processEvent = (event) => (event.properties.ssn ? null : event)',
          },
        },
      },
      answers: { 200: TestResult },
      max_body_bytes: MAX_SOURCE_BODY_BYTES,
      async handle(context) {
        const { item, body } = context
        // Who tries code of their own runs it here, so they must be allowed to save it.
        if (body.files) await addressIn(family).toReplaceCode(context)
        return ok(await testPlugin(context, item, body))
      },
    }),
  ]
}
