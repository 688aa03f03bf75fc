// Which family shows which plugin: what the code offers decides, else where the plugin was made.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import type { Family } from './families.ts'
import { insertFixturePlugin } from './fixture/plugins.ts'
import { listFamiliesOf } from './queries.ts'
import type { Capabilities } from './rows.ts'

let app: TestApp
let home: Workspace
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
})
afterAll(() => app.close())

const offers = (methods: string[], scheduled_tasks: string[] = [], jobs: string[] = []): Capabilities => ({
  methods,
  scheduled_tasks,
  jobs,
})
const short = { d: 'pipeline_destinations', f: 'pipeline_frontend_apps', i: 'pipeline_import_apps' } as const
const t = 'pipeline_transformations'
const { d, f, i } = short

it.each<[string, Capabilities, Family, Family[]]>([
  ['no code, made as a plugin', {}, 'plugins', [f]],
  ['no code, made as a destination', {}, d, [d]],
  ['no code, made as a frontend app', {}, f, [f]],
  ['no code, made as an import app', {}, i, [i]],
  ['no code, made as a transformation', {}, t, [t]],
  ['code that offers nothing, made as a plugin', offers([]), 'plugins', [i]],
  ['code that offers nothing, made as a destination', offers([]), d, [d]],
  ['code that offers nothing, made as a frontend app', offers([]), f, [f]],
  ['code that offers nothing, made as an import app', offers([]), i, [i]],
  ['onEvent', offers(['onEvent']), i, [d]],
  ['composeWebhook', offers(['composeWebhook']), 'plugins', [d]],
  ['exportEvents, which brings onEvent', offers(['exportEvents', 'onEvent']), f, [d]],
  ['a task', offers([], ['runEveryMinute']), d, [i]],
  ['a task alone, without the other lists', { scheduled_tasks: ['runEveryHour'] }, d, [i]],
  ['onEvent and a task', offers(['onEvent'], ['runEveryMinute']), f, [d, i]],
  ['setupPlugin alone', offers(['setupPlugin']), d, [i]],
  ['a job alone', offers([], [], ['sync']), d, [i]],
  ['a job alone, without the other lists', { jobs: ['sync'] }, d, [f]],
  ['processEvent, made as a plugin', offers(['processEvent']), 'plugins', [t]],
  ['processEvent, made as a destination', offers(['processEvent']), d, [d, t]],
  ['processEvent, made as a frontend app', offers(['processEvent']), f, [f, t]],
  ['processEvent, made as an import app', offers(['setupPlugin', 'processEvent']), i, [i, t]],
  ['processEvent, made as a transformation', offers(['processEvent']), t, [t]],
  ['processEvent and onEvent', offers(['onEvent', 'processEvent']), f, [d, t]],
  ['processEvent and a task', offers(['processEvent'], ['runEveryDay']), d, [i, t]],
])('%s', async (_name, capabilities, created_via_family, expected) => {
  const { id: organization_id } = home.organization
  const id = await insertFixturePlugin(app.db, { organization_id, capabilities, created_via_family })
  expect(await listFamiliesOf(app.db, organization_id, id)).toEqual(['plugins', ...expected])
})

const broken = (file: string) => [{ file, line: 1, column: 1, message: 'Unexpected "}"' }]

it.each<[string, Capabilities, Family, string, Family[]]>([
  ['code that never loaded, made as a plugin', {}, 'plugins', 'index.ts', []],
  ['code that never loaded, made as a destination', {}, d, 'index.ts', [d]],
  ['code of which nothing is called, made as a plugin', offers([]), 'plugins', 'index.ts', []],
  ['code of which nothing is called, made as a destination', offers([]), d, 'index.ts', [d]],
  ['code that loaded before', offers(['onEvent']), 'plugins', 'index.ts', [d]],
  ['a broken file for web pages', {}, 'plugins', 'site.ts', [f]],
])('%s', async (_name, capabilities, created_via_family, file, expected) => {
  const { id: organization_id } = home.organization
  const columns = { organization_id, capabilities, created_via_family, errors: broken(file) }
  const id = await insertFixturePlugin(app.db, columns)
  expect(await listFamiliesOf(app.db, organization_id, id)).toEqual(['plugins', ...expected])
})
