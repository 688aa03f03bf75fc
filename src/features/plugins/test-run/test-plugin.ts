// One event, job or schedule of a plugin that nobody need have switched on: in a sandbox of its own, which is gone
// afterwards.
import { randomInt } from 'node:crypto'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Caller, Level } from '../../../platform/http/caller.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { writeEventText } from '../../../platform/sandbox/event-text.ts'
import { AppFault, type AppCall, type Sandbox, type SandboxedApp } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { PipelineEvent } from '../../events/pipeline-event.ts'
import { CODE_FILE } from '../code.ts'
import { readConfigSchema, type SchemaField } from '../config-schema.ts'
import { toProcessedEvent, toWebhookEvent } from '../delivery/event-forms.ts'
import { MANIFEST, readManifestFile } from '../editing/update-source.ts'
import { INLINE_APPS } from '../inline/index.ts'
import type { PluginRow } from '../rows.ts'
import { fetchForApp } from '../running/host/app-fetch.ts'
import {
  eventAfter,
  toAppEvent,
  wrongUuidWarning,
  type FormContext,
} from '../running/ingestion/event-form.ts'
import { openDryHost, type DryRun } from './dry-host.ts'
import { BrokenCode, readSavedScript, readSentScript, type Script } from './read-script.ts'
import type { TestCall, TestRequest, TestResult } from './schema.ts'
import { presentEvent, readTestEvent, toStored } from './test-event.ts'
import { readTrialSettings } from './trial-settings.ts'

export type Testing = {
  services: Services
  db: Db
  caller: Caller
  organization: { id: string }
  level: Level
  now: Date
}

/** One of the two: an event, or a call that no event causes. */
type Asked = { event: PipelineEvent; call: null } | { event: null; call: AppCall }
type Outcome = { event: PipelineEvent | null; memory_bytes: number | null }

const WITHIN_MS = 30_000
/** A test is of no project. */
const NO_PROJECT = 0

export async function testPlugin(
  testing: Testing,
  plugin: PluginRow,
  request: TestRequest,
): Promise<TestResult> {
  const { services, db, now } = testing
  const asked = readAsked(request, now)
  const context = { project_id: NO_PROJECT, site_url: services.settings.site_url, now: now.toISOString() }
  const fields = fieldsOf(plugin, request)
  const { redactor, ...settings } = await readTrialSettings(testing, plugin, fields, request)
  const dry = openDryHost(
    request.fetch ? (wanted, signal) => fetchForApp(services.outbound, wanted, signal) : null,
  )
  const began = performance.now()
  const { event, ...outcome } = await toldFaults(asked.event, async () => {
    if (plugin.plugin_type === 'inline')
      return { event: runInline(plugin, asked.event, settings.config), memory_bytes: null }
    const sent = request.files?.[CODE_FILE]
    const { methods, errors, ...script } =
      sent === undefined
        ? await readSavedScript(services, db, plugin)
        : await readSentScript(services, db, plugin, sent)
    return runScript(services, dry, sandboxed(plugin, script, settings), {
      methods,
      errors,
      context,
      ...asked,
    })
  })
  const ms = Math.round((performance.now() - began) * 10) / 10
  const { logs, calls } = dry
  const after = event && presentEvent(event, context)
  return { ...redactor.cleanJson({ event: after, ...outcome, logs, calls }), ms }
}

function readAsked({ event, job, schedule }: TestRequest, now: Date): Asked {
  const given = [event, job, schedule].filter((each) => each !== undefined)
  if (given.length === 0) throw invalid('event', 'required', 'This field is required.')
  if (given.length > 1) throw invalid(null, 'invalid_input', 'Send one of `event`, `job` and `schedule`.')
  if (job) return { event: null, call: { method: 'job', name: job.type, payload: job.payload ?? {} } }
  if (schedule) return { event: null, call: { method: 'task', name: schedule } }
  return { event: readTestEvent(event!, now), call: null }
}

/** A manifest that is sent along says which settings there are. */
function fieldsOf({ config_schema }: PluginRow, { files }: TestRequest): SchemaField[] {
  const manifest = files?.[MANIFEST]
  const sent = manifest === undefined ? undefined : readManifestFile(manifest).config_schema
  return readConfigSchema(sent ?? config_schema)
}

/** What the app does wrong is part of the answer, and leaves the event as it was. */
async function toldFaults(event: PipelineEvent | null, run: () => Promise<Outcome>) {
  try {
    return { ...(await run()), error: null, errors: [] }
  } catch (fault) {
    if (!(fault instanceof AppFault)) throw fault
    const errors = fault instanceof BrokenCode ? [...fault.errors] : []
    return { event, memory_bytes: null, error: fault.error, errors }
  }
}

function runInline(
  { url }: PluginRow,
  event: PipelineEvent | null,
  config: JsonObject,
): PipelineEvent | null {
  const app = INLINE_APPS.get(url ?? '')
  if (!app || !event) throw invalid(null, 'invalid_input', 'The plugin has no code to run.')
  try {
    return app.open(config)(structuredClone(event))
  } catch (error) {
    throw new AppFault('threw', error instanceof Error ? error.message : String(error))
  }
}

type Trial = Pick<Script, 'methods' | 'errors'> & { context: FormContext } & Asked

/** Ids of configs are positive; a group of its own has an empty cache. */
function sandboxed(
  { name }: PluginRow,
  script: Pick<SandboxedApp, 'code' | 'mappings'>,
  settings: Pick<SandboxedApp, 'config' | 'attachments'>,
): SandboxedApp {
  const id = -randomInt(1, 2 ** 47)
  const nobodys = { version: 'test', tenant: null }
  return { ...nobodys, id, group: `test ${id}`, name: name ?? '', ...script, ...settings }
}

async function runScript(
  { sandbox }: Services,
  dry: DryRun,
  app: SandboxedApp,
  trial: Trial,
): Promise<Outcome> {
  try {
    const event = await runOn(sandbox, dry, app, trial)
    return { event, memory_bytes: await sandbox.measure(app, dry.host) }
  } finally {
    await sandbox.dispose(app.id)
  }
}

async function runOn(
  sandbox: Sandbox,
  { host, called }: DryRun,
  app: SandboxedApp,
  { methods, errors, context, event, call: asked }: Trial,
): Promise<PipelineEvent | null> {
  if (asked) {
    await sandbox.call(app, host, asked)
    return null
  }
  if (methods.has('processEvent')) {
    const form = toAppEvent(event, context)
    const text = writeEventText(form.fields, form.properties)
    const outcomes = await sandbox.processEvents(app, host, [text], WITHIN_MS)
    const warning = wrongUuidWarning(outcomes)
    if (warning !== null) host.log('SYSTEM', 'WARN', warning)
    // A copy: where this throws, the event is told as it was.
    return eventAfter(structuredClone(event), form, outcomes[0]!, context)
  }
  const call = callFor(methods, event)
  if (call === null) {
    await sandbox.prepare(app, host)
    const [uncalled] = errors
    if (uncalled) throw new BrokenCode(uncalled.message, errors, {})
    return event
  }
  const result = await sandbox.call(app, host, call)
  if (call.method === 'composeWebhook') {
    host.log('SYSTEM', 'INFO', `webhook: ${JSON.stringify(result ?? null)} was not sent`)
    if (isObject(result)) called(webhookCall(result))
  }
  return event
}

function webhookCall({ method, url, ...detail }: JsonObject): TestCall {
  const text = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise)
  return { kind: 'webhook', target: `${text(method, 'POST')} ${text(url, '')}`, detail, was_made: false }
}

/** Null for code that waits for something else than events: loading it and setting it up is the test. */
function callFor(methods: ReadonlySet<string>, event: PipelineEvent): AppCall | null {
  const stored = toStored(event)
  if (methods.has('composeWebhook'))
    return { method: 'composeWebhook', event: toWebhookEvent(NO_PROJECT, stored) }
  const processed = toProcessedEvent(NO_PROJECT, stored)
  if (methods.has('exportEvents')) return { method: 'exportEvents', events: [processed] }
  return methods.has('onEvent') ? { method: 'onEvent', event: processed } : null
}
