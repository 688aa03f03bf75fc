// Definitions of feature flags, which server libraries fetch again and again to evaluate flags themselves. There are no
// flags here: without an answer each library would log an error every half minute.
import { z } from 'zod'
import { ok, route } from '../../../platform/http/route.ts'

const Definitions = z
  .object({
    flags: z.array(z.unknown()),
    group_type_mapping: z.record(z.string(), z.string()),
    cohorts: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'FeatureFlagDefinitions' })

/** The oldest libraries read a page of a list from the same place. */
const DefinitionsPage = Definitions.extend({
  count: z.int(),
  next: z.null(),
  previous: z.null(),
  results: z.array(z.unknown()),
}).meta({ id: 'FeatureFlagDefinitionsPage' })

const NONE = { flags: [], group_type_mapping: {}, cohorts: {} }
const EMPTY_PAGE = { count: 0, next: null, previous: null, results: [] }

export const featureFlagRoutes = [
  ...(['/flags/definitions/', '/api/feature_flag/local_evaluation/'] as const).map((path) =>
    route({
      method: 'GET',
      path,
      summary: 'Definitions of feature flags: there are none',
      scope: 'feature_flag:read',
      // The answer is the same for every project, so a key that is limited to some may have it.
      is_about_caller: true,
      answers: { 200: Definitions },
      handle: async () => ok(NONE),
    }),
  ),
  route({
    method: 'GET',
    path: '/api/feature_flag/',
    summary: 'Definitions of feature flags, as the oldest libraries ask for them: there are none',
    scope: 'feature_flag:read',
    is_about_caller: true,
    answers: { 200: DefinitionsPage },
    handle: async () => ok({ ...NONE, ...EMPTY_PAGE }),
  }),
  ...(['/api/projects/:project_id', '/api/environments/:project_id'] as const).map((base) =>
    route({
      method: 'GET',
      path: `${base}/feature_flags/`,
      summary: 'Feature flags of a project: there are none',
      scope: 'feature_flag:read',
      level: 'member',
      answers: { 200: DefinitionsPage.pick({ count: true, next: true, previous: true, results: true }) },
      handle: async () => ok(EMPTY_PAGE),
    }),
  ),
]
