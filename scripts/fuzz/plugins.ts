// Plugins and their configs: bodies and parameters that mean more than their schemas say. No address in them leads
// anywhere: nothing is ever fetched.
import fc, { type Arbitrary } from 'fast-check'
import type { Operation } from './operations.ts'
import { anyJson, anyOf, hostileText, mostly, valid, type Source } from './values.ts'

const CONFIGS = /\/plugin_configs?\/|\/pipeline_\w+_configs\//
const FAMILIES = /\/organizations\/\{\w+\}\/(plugins|pipeline_\w+)\//

export const isAboutPlugins = ({ path }: Pick<Operation, 'path'>) =>
  FAMILIES.test(path) || CONFIGS.test(path) || path.includes('/app_metrics/')
export const isAboutFrontendApps = ({ path }: Pick<Operation, 'path'>) =>
  path.includes('/pipeline_frontend_apps')

/** Offers what keeps a plugin in every family that goes by code. */
export const CODE = `
  export const jobs = { sync(payload) { console.log(payload) } }
  export function runEveryDay() {}
  export function onEvent(event) { console.log(event.event) }
  export function processEvent(event, { config }) {
    event.properties.note = config.note
    return event
  }`
const SITE = 'export function inject({ config }) { console.log(config) }'
const SCHEMAS = [
  {},
  [],
  [{ key: 'note', type: 'string', default: 'x' }, { markdown: 'Text' }],
  { note: { type: 'string', secret: true }, plan: { type: 'choice', choices: ['a', 'b'] } },
]

const fields = fc.record(
  {
    name: fc.constantFrom('Mine', 'Zoë’s “app”', null),
    description: fc.constantFrom('What it does', '', null),
    icon: fc.constantFrom('https://example.com/icon.png', null),
    tag: fc.constantFrom('v1', null),
    config_schema: fc.constantFrom(...SCHEMAS),
    metrics: fc.constantFrom({ sent: 'sum' }, null),
    url: fc.constant(null),
  },
  { requiredKeys: [] },
)

function goodBodies(source: Source, operation: Operation): Arbitrary<unknown> | undefined {
  const { name } = operation
  const isFrontend = isAboutFrontendApps(operation)
  const call = name.replace(/^(\w+) .*?(\{id\}\/\w*|\w+)\/$/, '$1 $2')
  if (CONFIGS.test(operation.path)) {
    const plugin = anyOf(() => source.side.ids[isFrontend ? 'frontend_app' : 'plugin']).map(Number)
    const settings = { config: fc.constantFrom({}, { note: 'hi' }), name: fc.constantFrom('', 'Named') }
    const bodies: Record<string, Arbitrary<unknown>> = {
      'PATCH {id}/': fc.record(
        { ...settings, order: fc.integer({ min: 1, max: 9 }), enabled: fc.boolean() },
        { requiredKeys: [] },
      ),
      'PATCH rearrange': fc.constantFrom({ orders: {} }, { orders: { '1': 2, '2': '1' } }),
      'POST {id}/job': fc.constantFrom(
        { job: { type: 'sync' } },
        { job: { type: 'sync', payload: {}, operation: 'start' } },
      ),
    }
    return bodies[call] ?? fc.record({ plugin, ...settings }, { requiredKeys: ['plugin'] })
  }
  const bodies: Record<string, Arbitrary<unknown>> = {
    'PATCH {id}/update_source': isFrontend
      ? fc.constantFrom({ 'site.ts': SITE }, { 'notes.md': null, name: 'Renamed' })
      : fc.constantFrom({ 'index.ts': CODE }, { 'notes.md': 'x' }, { 'notes.md': null, tag: 'v2' }),
    'POST {id}/test': fc.record(
      {
        event: fc.constantFrom({}, { event: 'seen', properties: { a: 1 } }),
        config: fc.constant({ note: 'x' }),
      },
      { requiredKeys: ['event'] },
    ),
  }
  return bodies[call] ?? fields
}

export function goodPluginBody(source: Source, operation: Operation): Arbitrary<unknown> {
  return goodBodies(source, operation) ?? valid(source, operation.body!)
}

const odd = mostly<unknown>(3, anyJson, fc.dictionary(hostileText, anyJson, { maxKeys: 3 }))
const wildFields = {
  plugin_type: mostly<unknown>(2, fc.constantFrom('local', 'custom', 'repository', 'inline', null), odd),
  name: odd,
  icon: odd,
  url: mostly<unknown>(
    2,
    fc.constantFrom('file:/etc', 'https://example.com/a/b', 'inline:x', 'ftp://github.com/a/b', ''),
    odd,
  ),
  config_schema: mostly<unknown>(
    2,
    fc.array(fc.record({ key: odd, type: odd, default: odd, secret: odd, site: odd }, { requiredKeys: [] }), {
      maxLength: 3,
    }),
    odd,
  ),
  capabilities: mostly<unknown>(2, fc.record({ methods: odd, jobs: odd }, { requiredKeys: [] }), odd),
  is_global: odd,
  metrics: odd,
  public_jobs: odd,
  'index.ts': odd,
  'plugin.json': mostly<unknown>(
    1,
    odd.map((value) => JSON.stringify(value)),
    odd,
  ),
  'site.ts': odd,
  event: odd,
  config: odd,
  fetch: odd,
  plugin: odd,
  order: odd,
  orders: odd,
  filters: odd,
  job: mostly<unknown>(1, fc.record({ type: odd, payload: odd }), odd),
  deleted: odd,
}

/** A good body with one to three of its fields gone wrong. */
export function wildPluginBody(source: Source, operation: Operation): Arbitrary<unknown> {
  const names = fc.uniqueArray(fc.constantFrom(...Object.keys(wildFields)), { minLength: 1, maxLength: 3 })
  return fc
    .tuple(goodPluginBody(source, operation), fc.record(wildFields), names)
    .map(([good, wild, changed]) => ({
      ...(good as object),
      ...Object.fromEntries(changed.map((name) => [name, wild[name as keyof typeof wildFields]])),
    }))
}

/** Without them app metrics say nothing. */
export function goodPluginQuery(source: Source, { query, path }: Operation): Arbitrary<string> {
  if (path.includes('/app_metrics/')) {
    return fc.constantFrom(
      'category=onEvent&error_type=Error',
      'category=processEvent&error_type=x&date_from=-7d',
    )
  }
  const values: Record<string, Arbitrary<string>> = {
    format: fc.constantFrom('posthog', 'json'),
    type_filter: fc.constantFrom('INFO', 'ERROR'),
    after: fc.constant('2024-01-01T00:00:00Z'),
    before: fc.constant('2099-01-01T00:00:00Z'),
  }
  const pairs = query.map(({ name, schema }) =>
    (values[name] ?? valid(source, schema, name).map(String)).map((value): [string, string] => [name, value]),
  )
  return fc
    .tuple(...pairs)
    .chain((all) => fc.subarray(all))
    .map((chosen) => new URLSearchParams(chosen).toString())
}
