// One event through a plugin that nobody need have switched on: in a sandbox of its own, which is gone afterwards.
import { randomInt } from 'node:crypto'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { writeEventText } from '../../../platform/sandbox/event-text.ts'
import { AppFault, type AppCall, type Host, type SandboxedApp } from '../../../platform/sandbox/sandbox.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { readConfigSchema } from '../config-schema.ts'
import { secretValues, withDefaults } from '../configs/settings.ts'
import { INLINE_APPS } from '../inline/index.ts'
import type { PluginRow } from '../rows.ts'
import { fetchForApp } from '../running/host/app-fetch.ts'
import { openDryHost } from './dry-host.ts'
import { readScript, type Script } from './read-script.ts'
import type { TestRequest, TestResult } from './schema.ts'
import { completeEvent, patched, toPipelineEvent, type TestEvent } from './test-event.ts'

type Testing = { services: Services; db: Db; now: Date }

const WITHIN_MS = 30_000

export async function testPlugin(
  { services, db, now }: Testing,
  plugin: PluginRow,
  request: TestRequest,
): Promise<TestResult> {
  const event = completeEvent(request.event, services.settings.site_url, now)
  const fields = readConfigSchema(plugin.config_schema)
  const config = withDefaults(fields, request.config ?? {})
  const redactor = new Redactor(secretValues(fields, config))
  const { host, logs } = openDryHost(
    request.fetch ? (wanted, signal) => fetchForApp(services.outbound, wanted, signal) : null,
  )
  const began = performance.now()
  const outcome = await toldFaults(event, async () => {
    if (plugin.plugin_type === 'inline') return runInline(plugin, event, config, now)
    return runScript(services, host, sandboxed(plugin, await readScript(services, db, plugin), config), {
      methods: new Set(plugin.capabilities.methods ?? []),
      event,
    })
  })
  const ms = Math.round((performance.now() - began) * 10) / 10
  return { ...redactor.cleanJson({ ...outcome, logs }), ms }
}

/** What the app does wrong is part of the answer, and leaves the event as it was. */
async function toldFaults(event: TestEvent, run: () => Promise<JsonObject | null>) {
  try {
    return { event: await run(), error: null }
  } catch (fault) {
    if (!(fault instanceof AppFault)) throw fault
    return { event, error: fault.error }
  }
}

function runInline({ url }: PluginRow, event: TestEvent, config: JsonObject, now: Date): JsonObject | null {
  const app = INLINE_APPS.get(url ?? '')
  if (!app) throw invalid(null, 'invalid_input', 'The plugin has no code to run.')
  try {
    const after = app.processEvent(toPipelineEvent(event, now), config)
    if (after === null) return null
    const { event: name, distinct_id, properties } = after
    return { ...event, event: name, distinct_id, properties }
  } catch (error) {
    throw new AppFault('threw', error instanceof Error ? error.message : String(error))
  }
}

/** Ids of configs are positive; a group of its own has an empty cache. */
function sandboxed({ name }: PluginRow, script: Script, config: JsonObject): SandboxedApp {
  const id = -randomInt(1, 2 ** 47)
  const nobodys = { version: 'test', tenant: null, attachments: {} }
  return { ...nobodys, id, group: `test ${id}`, name: name ?? '', ...script, config }
}

type Trial = { methods: ReadonlySet<string>; event: TestEvent }

async function runScript(
  { sandbox }: Services,
  host: Host,
  app: SandboxedApp,
  { methods, event }: Trial,
): Promise<JsonObject | null> {
  try {
    if (methods.has('processEvent')) {
      const { properties, ...fields } = event
      const text = writeEventText(fields, properties)
      const [outcome] = await sandbox.processEvents(app, host, [text], WITHIN_MS)
      if (outcome?.kind === 'failed') throw outcome.fault
      if (outcome?.kind === 'dropped') return null
      return outcome?.kind === 'changed' ? patched(event, outcome.patch) : event
    }
    const call = callFor(methods, event)
    if (call === null) {
      await sandbox.prepare(app, host)
      return event
    }
    const result = await sandbox.call(app, host, call)
    if (call.method === 'composeWebhook') {
      host.log('SYSTEM', 'INFO', `webhook: ${JSON.stringify(result ?? null)} was not sent`)
    }
    return event
  } finally {
    await sandbox.dispose(app.id)
  }
}

/** Null for code that waits for something else than events: loading it and setting it up is the test. */
function callFor(methods: ReadonlySet<string>, event: TestEvent): AppCall | null {
  if (methods.has('composeWebhook')) return { method: 'composeWebhook', event }
  if (methods.has('exportEvents')) return { method: 'exportEvents', events: [event] }
  return methods.has('onEvent') ? { method: 'onEvent', event: { ...event, elements: [] } } : null
}
