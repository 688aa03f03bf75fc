// Tests of a destination, step by step, before an export is created or changed. The same calls below both names of a
// project.
import { EXPORT_EXAMPLES } from '../examples.ts'
import { invalid, notFound } from '../../../platform/http/errors.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { assertHostsAllowed, changeConfig, findKind, getKind, readConfig } from '../config.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { getExport } from '../queries.ts'
import { shownType } from '../rows.ts'
import { assertOffered } from '../rules.ts'
import { configWithSecrets } from '../secrets.ts'
import { runStep } from './run-step.ts'
import { NewTestRequest, Steps, StepsQuery, TestedStep, TestRequest } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const STEP_LIMIT_MS = 30_000

export const destinationTestRoutes = [
  ...testRoutesBelow('/api/projects/:project_id'),
  ...testRoutesBelow('/api/environments/:project_id'),
]

function testRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/test/`,
      summary: 'The steps by which a type of destination is tested',
      scope: 'batch_export:read',
      level: 'member',
      query: StepsQuery,
      answers: { 200: Steps },
      async handle({ query: { destination: type } }) {
        if (type === undefined) throw invalid('destination', 'required', 'Name a type of destination.')
        const kind = findKind(type)
        if (!kind)
          throw notFound(
            `There is no such type of destination: choose one of ${[...DESTINATIONS.keys()].join(', ')}.`,
          )
        const { steps } = await kind.load()
        return ok({ steps: steps.map(({ name, description }) => ({ name, description, result: null })) })
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/run_test_step_new/`,
      summary: 'Test a destination that no export has yet',
      scope: 'batch_export:write',
      level: 'member',
      is_question: true,
      body: NewTestRequest,
      examples: {
        'The first step of an export to a folder': {
          step: 0,
          destination: EXPORT_EXAMPLES.File!.destination,
        },
      },
      answers: { 200: TestedStep },
      async handle({ services, body }) {
        const kind = getKind(body.destination.type)
        assertOffered(services.settings, { type: kind.type })
        const config = readConfig(kind, body.destination.config)
        await assertHostsAllowed(services.outbound, kind, config)
        return ok(await runStep(services, kind, config, body.step, AbortSignal.timeout(STEP_LIMIT_MS)))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:id/run_test_step/`,
      summary: "Test an export's destination as it is stored, or as it would be after a change",
      scope: 'batch_export:write',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.id),
      is_question: true,
      body: TestRequest,
      examples: { 'The first step': { step: 0 } },
      answers: { 200: TestedStep },
      async handle({ services, item, body }) {
        const { type = shownType(item), config: sent = {} } = body.destination ?? {}
        if (type !== shownType(item)) {
          throw invalid('destination__type', 'invalid_input', 'The type of a destination cannot change.')
        }
        const kind = getKind(type)
        assertOffered(services.settings, { type: kind.type })
        const config = changeConfig(kind, configWithSecrets(services, item), sent)
        await assertHostsAllowed(services.outbound, kind, config)
        return ok(await runStep(services, kind, config, body.step, AbortSignal.timeout(STEP_LIMIT_MS)))
      },
    }),
  ]
}
