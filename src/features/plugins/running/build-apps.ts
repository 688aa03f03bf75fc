// From rows to apps that can be called: code, settings in clear, and the host that each may ask for things.
import { createHash } from 'node:crypto'
import { groupBy } from '../../../lib/group-by.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Host } from '../../../platform/sandbox/sandbox.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { readConfigSchema } from '../config-schema.ts'
import { ruleOf } from '../configs/rules.ts'
import { openSettings, type AttachmentRow } from '../configs/settings.ts'
import { INLINE_APPS } from '../inline/index.ts'
import type { InlineApp } from '../inline/inline-app.ts'
import { SettingFault } from '../inline/settings.ts'
import { writeErrors } from '../source-errors.ts'
import { readLocalSource } from '../sources/local.ts'
import { transpileFile } from '../transpile.ts'
import {
  listAttachments,
  listCode,
  listDigests,
  type CodeRow,
  type DigestedFile,
  type EnabledConfig,
} from './queries.ts'
import type { RunningApp } from './running-app.ts'

/** Null for what has nothing to run here, such as code for web pages. */
type Built = { config: EnabledConfig; app: RunningApp | null }

export type AppFacts = Omit<RunningApp, 'code'>

type BuildServices = Pick<Services, 'db' | 'secrets' | 'settings'>

export async function buildApps(
  services: BuildServices,
  configs: readonly EnabledConfig[],
  openHost: (facts: AppFacts) => Host,
): Promise<Built[]> {
  const { db } = services
  const ids = configs.map(({ id }) => id)
  const files = groupBy(await listDigests(db, ids), (row) => row.plugin_config_id)
  const code = new Map((await listCode(db, ids)).map((row) => [whatRuns(row), row]))
  const built: Built[] = []
  for (const config of configs) {
    const script = await readScript(services, config, code.get(whatRuns(config)))
    const attached = await readAttached(db, config, files.get(config.id) ?? [])
    built.push({ config, app: buildOrFail(services, config, script, attached, openHost) })
  }
  return built
}

const whatRuns = ({ plugin_id, version }: Pick<EnabledConfig, 'plugin_id' | 'version'>) =>
  `${plugin_id} ${version ?? ''}`

/** `secret` are opened for their texts to be known, and let go. */
type Attached = { files: readonly DigestedFile[]; secret: readonly AttachmentRow[] }

async function readAttached(
  db: Db,
  { id, plugin }: EnabledConfig,
  files: readonly DigestedFile[],
): Promise<Attached> {
  const fields = readConfigSchema(plugin.config_schema).filter(({ secret }) => secret)
  const keys = files.map(({ key }) => key).filter((key) => fields.some((field) => field.key === key))
  return { files, secret: keys.length === 0 ? [] : await listAttachments(db, id, keys) }
}

type Script = { code: string; mappings: string | null } | { fault: string } | null

/** Code of type local is read from its folder each time. */
async function readScript(
  { settings }: BuildServices,
  { plugin }: EnabledConfig,
  row: CodeRow | undefined,
): Promise<Script> {
  if (plugin.plugin_type !== 'local' || plugin.url === null) {
    const { transpiled = null, mappings = null, error = null } = row ?? {}
    if (transpiled !== null) return { code: transpiled, mappings }
    return error === null ? null : { fault: error }
  }
  try {
    const { files } = await readLocalSource(settings, plugin.url)
    const source = files.get('index.ts')
    if (source === undefined) return null
    const result = await transpileFile('index.ts', source)
    if (result.status === 'TRANSPILED') return { code: result.transpiled, mappings: result.mappings }
    return result.status === 'ERROR' ? { fault: writeErrors(result.errors) } : null
  } catch {
    return { fault: 'The folder of this plugin cannot be read.' }
  }
}

/** Settings sealed under a key that is gone keep one config from running, not all. */
function buildOrFail(...parts: Parameters<typeof buildApp>): Built['app'] {
  try {
    return buildApp(...parts)
  } catch {
    const [, row] = parts
    return broken(
      factsOf(row, {}, NOTHING_KNOWN),
      'The settings cannot be opened: they were sealed under another SECRET_KEY.',
    )
  }
}

function broken(facts: AppFacts, reason: string): RunningApp {
  return { ...facts, code: { kind: 'broken', reason } }
}

const NOTHING_KNOWN = new Redactor([])

/** What code offers that has never loaded is not known: events may be meant to go through it. */
const UNKNOWN = ['processEvent']

function factsOf(row: EnabledConfig, config: AppFacts['config'], redactor: Redactor): AppFacts {
  const { plugin } = row
  const { methods = UNKNOWN, scheduled_tasks = [], jobs = [] } = plugin.capabilities
  return {
    config_id: row.id,
    project_id: row.project_id,
    organization_id: row.organization_id,
    plugin_id: row.plugin_id,
    plugin_name: plugin.name || 'Unnamed plugin',
    order: row.order,
    methods: new Set(methods),
    scheduled_tasks,
    jobs,
    filters: row.filters,
    on_failure: ruleOf(row, plugin),
    is_on_failure_default: row.on_failure === null,
    config,
    redactor,
  }
}

function buildApp(
  { secrets }: BuildServices,
  row: EnabledConfig,
  script: Script,
  { files, secret }: Attached,
  openHost: (facts: AppFacts) => Host,
): Built['app'] {
  const { plugin } = row
  const { redactor, config } = openSettings(secrets, plugin.config_schema, row, secret)
  const facts = factsOf(row, config, redactor)
  if (plugin.plugin_type === 'inline') {
    const app = INLINE_APPS.get(plugin.url ?? '')
    return app ? openInline({ ...facts, methods: new Set(['processEvent']) }, app) : null
  }
  if (script === null) return null
  if ('fault' in script) return broken(facts, script.fault)
  const { code, mappings } = script
  const version = hash([code, config, files])
  const tenant = row.organization_id
  const group = `${row.plugin_id}:${row.project_id}`
  const stored = { attachments: {}, has_files: files.length > 0 }
  const name = facts.plugin_name
  const app = { id: row.id, version, tenant, group, name, code, mappings, config, ...stored }
  return { ...facts, code: { kind: 'sandboxed', app, host: openHost(facts) } }
}

function openInline(facts: AppFacts, app: InlineApp): RunningApp {
  try {
    return { ...facts, code: { kind: 'inline', processEvent: app.open(facts.config) } }
  } catch (fault) {
    if (fault instanceof SettingFault) return broken(facts, fault.message)
    throw fault
  }
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
