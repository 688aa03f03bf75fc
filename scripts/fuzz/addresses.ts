// Where requests go: paths with ids that exist, belong to others or are nonsense, and queries of the same kinds.
import fc, { type Arbitrary } from 'fast-check'
import { goodEventQuery, isAboutEvents, wildEventQuery } from './event-queries.ts'
import { goodExportQuery, isAboutExports } from './exports.ts'
import type { Operation } from './operations.ts'
import { goodPluginQuery, isAboutPlugins } from './plugins.ts'
import { anyOf, hostileText, valid, type Source } from './values.ts'
import type { IdKind, Side } from './world.ts'

const NO_UUID = '00000000-0000-7000-8000-000000000000'

const KIND_OF: [place: RegExp, kind: IdKind][] = [
  [/\/members\/\{|\/users\/\{|\/reset\/\{/, 'user'],
  [/\/invites\/\{|\/signup\/\{/, 'invite'],
  [/\/domains\/\{/, 'domain'],
  [/\/service_keys\/\{/, 'service_key'],
  [/\/personal_api_keys\/\{/, 'personal_key'],
  [/\/events\/\{|\/query\/\{/, 'event'],
  [/\/persons\/\{/, 'person'],
  [/\/batch_exports\/\{/, 'batch_export'],
  [/\/runs\/\{/, 'run'],
  [/\/backfills\/\{/, 'backfill'],
  [/\/verifications\/\{/, 'verification'],
  [/\/pipeline_frontend_apps_configs\/\{/, 'frontend_app_config'],
  [/_configs?\/\{|\/app_metrics\/\{/, 'plugin_config'],
  [/\/pipeline_frontend_apps\/\{/, 'frontend_app'],
  [/\/(plugins|pipeline_[a-z_]+)\/\{/, 'plugin'],
  [/\/(projects|environments)\/\{/, 'project'],
  [/\/organizations\/\{/, 'organization'],
]

export function pathOf(template: string, idOf: (kind: IdKind) => Arbitrary<string>): Arbitrary<string> {
  const parts = template.split(/(\/[a-z_]+\/\{[^}]+\})/).map((part) => {
    const kind = KIND_OF.find(([place]) => place.test(part))?.[1]
    return kind ? idOf(kind).map((id) => part.slice(0, part.indexOf('{')) + id) : fc.constant(part)
  })
  return fc.tuple(...parts).map((each) => each.join(''))
}

/** The home organization, its first project and that one's token are spared: without them nothing at home could succeed any more. */
export function goodId({ world, side }: Source, { name }: Operation, kind: IdKind): Arbitrary<string> {
  if (name === 'DELETE /api/organizations/{id}/')
    return anyOf(() => [NO_UUID, ...side.ids.organization.slice(1)])
  if (name === 'DELETE /api/users/{uuid}/') return fc.constant(NO_UUID)
  if (kind === 'project' && /^DELETE .*\/projects\/\{id\}\/$|\/reset_token\/$/.test(name))
    return anyOf(() => ['0', ...side.ids.project.slice(1)])
  // Only the first project has events, exports and plugins in it.
  if (kind === 'project' && [isAboutEvents, isAboutExports, isAboutPlugins].some((is) => is({ path: name })))
    return fc.constant(side.ids.project[0]!)
  if (kind === 'batch_export') return goodExportId(side, name)
  if (kind === 'organization') return fc.constant(null).map(() => side.ids.organization[0]!)
  if (/\/reset\/|\/verify_email\//.test(name)) return fc.constant(world.linked.uuid)
  return kind === 'user' && name.includes('/users/') ? fc.constant('@me') : anyOf(() => side.ids[kind])
}

/** The first one has the runs and backfills, and writes files; it is spared. */
function goodExportId({ ids }: Side, name: string): Arbitrary<string> {
  if (name.startsWith('DELETE '))
    return anyOf(() => (ids.batch_export.length > 1 ? ids.batch_export.slice(1) : [NO_UUID]))
  const isOfFirst = /^PUT |\/(runs|backfills|verifications|logs|reconciliation)\//.test(name)
  return isOfFirst ? fc.constant(ids.batch_export[0]!) : anyOf(() => ids.batch_export)
}

export function wildId(side: Side, kind: IdKind): Arbitrary<string> {
  const odd = fc.oneof(
    fc.constantFrom(
      '@current',
      '@me',
      NO_UUID,
      '0',
      '-1',
      '2147483648',
      'nonsense',
      '',
      '%',
      '%zz',
      '%ff',
      '%00',
      '..',
      'bulk',
    ),
    hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
  )
  return fc.oneof(
    { weight: 10, arbitrary: anyOf(() => side.ids[kind]) },
    { weight: 4, arbitrary: fc.constant(kind === 'user' ? '@me' : '@current') },
    { weight: 2, arbitrary: odd },
  )
}

export function oddSlashes(path: string): Arbitrary<string> {
  const without = path.replace(/\/$/, '')
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(path) },
    { weight: 4, arbitrary: fc.constant(without) },
    { weight: 1, arbitrary: fc.constantFrom(`${path}/`, path.replace('/api/', '/api//'), `/${path}`) },
  )
}

export function goodQuery(source: Source, operation: Operation): Arbitrary<string> {
  if (isAboutEvents(operation)) return goodEventQuery(source, operation)
  if (isAboutExports(operation)) return goodExportQuery(source, operation)
  if (isAboutPlugins(operation)) return goodPluginQuery(source, operation)
  const pairs = operation.query.map(({ name, schema }) =>
    valid(source, schema, name).map((value): [string, string] => [name, String(value)]),
  )
  return fc
    .tuple(...pairs)
    .chain((all) => fc.subarray(all))
    .map((chosen) => new URLSearchParams(chosen).toString())
}

export function wildQuery(source: Source, operation: Operation): Arbitrary<string> {
  const names = [
    ...operation.query.map((each) => each.name),
    'limit',
    'offset',
    'unknown',
    'personal_api_key',
    '__proto__',
    'limit[]',
  ]
  const value = fc.oneof(
    hostileText,
    fc.constantFrom('1', '0', '-1', '1000', '99999999999999999999', 'joined_at', '2024-01-01'),
  )
  const pair = fc
    .tuple(fc.constantFrom(...names), value)
    .map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed()).slice(0, 3_000)}`)
  return fc.oneof(
    { weight: isAboutEvents(operation) ? 12 : 0, arbitrary: wildEventQuery(source, operation) },
    { weight: 6, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: goodQuery(source, operation) },
    { weight: 3, arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&')) },
    { weight: 1, arbitrary: fc.string({ maxLength: 30 }).map((text) => text.replace(/[^!-~]/g, '%')) },
  )
}
