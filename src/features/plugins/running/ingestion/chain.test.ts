// The server's own apps run on the main thread: what else waits for it gets its turn, and their time is limited.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { Redactor } from '../../../../platform/secrets/redactor.ts'
import { madeEvent } from '../../inline/fixture/event.ts'
import type { ProcessEvent } from '../../inline/inline-app.ts'
import { openAppSandbox } from '../attached-files.ts'
import { FaultRecords } from '../fault-records.ts'
import type { RunningApp } from '../running-app.ts'
import { Watch } from '../watch.ts'
import { runChain } from './chain.ts'
import { Passage } from './passage.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const WORK_MS = 20
const slow: ProcessEvent = (event) => {
  for (const began = performance.now(); performance.now() - began < WORK_MS;);
  return event
}

/** How many of ten events were held, when they may take that long. */
async function heldOfTen(patience_ms: number): Promise<number> {
  const { services, plugins } = app
  const { metrics, lapses, logs } = plugins
  const watch = new Watch(
    { ...services, sandbox: openAppSandbox(services) },
    logs,
    new FaultRecords(services),
  )
  const passages = Array.from({ length: 10 }, () => new Passage(madeEvent({}), undefined))
  const { id: project_id } = workspace.project
  const context = { project_id, site_url: '', now: services.now().toISOString(), patience_ms, retry: false }
  const apps = [inlineApp()]
  await runChain({ watch, metrics, logs, lapses, log: services.log, appsOf: () => apps }, passages, context)
  return passages.filter(({ held }) => held).length
}

function inlineApp(): RunningApp {
  return {
    config_id: 1,
    project_id: workspace.project.id,
    organization_id: workspace.organization.id,
    plugin_id: 1,
    plugin_name: 'Slow',
    order: 1,
    methods: new Set(['processEvent']),
    scheduled_tasks: [],
    jobs: [],
    filters: null,
    on_failure: 'hold',
    is_on_failure_default: false,
    config: {},
    redactor: new Redactor([]),
    code: { kind: 'inline', processEvent: slow },
  }
}

it('others get their turn between the events', async () => {
  let turns = 0
  const timer = setInterval(() => void turns++, 1)
  expect(await heldOfTen(60_000)).toBe(0)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(3)
})

it('what comes after its time does what the config says', async () => {
  const held = await heldOfTen(0)
  expect(held).toBeGreaterThan(0)
  // The reserve is there for those that others have left no time to.
  expect(held).toBeLessThan(10)
})
