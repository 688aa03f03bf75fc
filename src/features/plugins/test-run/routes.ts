// Trying out a plugin: its code runs, and nothing comes of it.
import { ok, route } from '../../../platform/http/route.ts'
import { addressIn } from '../address.ts'
import type { Family } from '../families.ts'
import { TestRequest, TestResult } from './schema.ts'
import { testPlugin } from './test-plugin.ts'

export function pluginTestRoutes(family: Family) {
  return [
    route({
      method: 'POST',
      path: `/api/organizations/:organization_id/${family}/:id/test/`,
      summary: 'Run a plugin on one event without storing or sending anything',
      scope: 'plugin:write',
      level: 'member',
      is_question: true,
      item: addressIn(family).toTest,
      body: TestRequest,
      examples: {
        'Try it on an event': {
          event: { event: 'order paid', distinct_id: 'ada', properties: { ssn: '1' } },
        },
      },
      answers: { 200: TestResult },
      handle: async (context) => ok(await testPlugin(context, context.item, context.body)),
    }),
  ]
}
