// One app, installed as it is published, switched on and fed with events: what it did, or why it did nothing.
import { readFile } from 'node:fs/promises'
import type { Workbench } from '../workbench.ts'
import { GEOIP, GOOGLE, type Tried } from './list.ts'
import { GEOIP_DATABASE, serviceAccount, type World } from './world.ts'

export type Verdict = { repo: string; works: boolean; kind: string; what: string }
export type Login = { host: string; port: number; user: string; password: string; database: string }
/** `rowsIn`: how many a table has. */
export type Database = { login: Login; rowsIn(table: string): Promise<number> }

const NPM_ADDRESS = /https:\/\/www\.npmjs\.com\/package\/\S+/

type Field = { key?: string; type?: string; default?: unknown; required?: boolean; choices?: string[] }

const SENT = {
  $current_url: 'https://shop.example/en/products/?utm_source=mail&q=1',
  $pathname: '/en/products/',
  $host: 'shop.example',
  $ip: '81.2.69.142',
  $user_agent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36',
  $useragent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36',
  $referrer: 'https://www.google.com/search?q=shop',
  email: 'ann@example.com',
  amount: 10,
  currency: 'USD',
  version: '1.2.3',
  internal: 'no',
  nested: { a: { b: 1 } },
  sentAt: '2026-11-01T00:00:00Z',
  phone: '+4912345',
}

export async function tryApp(
  bench: Workbench,
  world: World,
  app: Tried,
  database: Database,
): Promise<Verdict> {
  const url = `https://github.com/${app.repo}`
  const verdict = (works: boolean, kind: string, what: string): Verdict => ({
    repo: app.repo,
    works,
    kind,
    what,
  })
  const install = (address: string) =>
    bench.app.post(`${bench.organizationUrl}/plugins/`, { url: address }, { key: bench.key })
  let installed = await install(url)
  // As a reader of the refusal would.
  const offered = installed.status === 201 ? undefined : NPM_ADDRESS.exec(installed.body.detail)?.[0]
  if (offered !== undefined) installed = await install(offered)
  if (installed.status !== 201) return verdict(false, '', `cannot be installed: ${installed.body.detail}`)
  const from = offered === undefined ? '' : `from [npm](${offered}), where its built code is: `
  const plugin = installed.body
  const kind = kindOf(plugin.capabilities)
  if (plugin.errors.length > 0) return verdict(false, kind, `does not load: ${plugin.errors[0].message}`)
  world.answerWith(app.answers ?? {})
  const heard = world.heard.length
  const made = await configure(bench, plugin, app, database.login)
  if (typeof made === 'string') return verdict(false, kind, made)
  const given = { ...SENT, ...app.properties }
  const began = Date.now()
  for (const event of ['signed_up', '$pageview', 'signed_up']) {
    // Apps live by the real clock, whatever the application's says.
    const at = (app.is_sent_twice ? began : Date.now()) - 60_000
    await bench.capture(event, given, {
      timestamp: app.are_times_numbers ? at : new Date(at).toISOString(),
      $set: { email: 'ann@example.com', phone: '+4912345' },
    })
  }
  for (const { event, properties } of app.events ?? []) await bench.capture(event, properties)
  await turns(bench)
  const faults = (await bench.logs(made)).filter(
    ({ type, source }) => type === 'ERROR' && source !== 'CONSOLE',
  )
  const written = app.database ? await database.rowsIn(String(app.config?.tableName)) : 0
  const seen = await whatItDid(bench, made, given)
  const { error } = await bench.config(made)
  // What an app has gathered it sends when it is taken away.
  await bench.switchOff(made)
  const calls = world.heard.slice(heard).map((line) => line.split(/[ /]/)[1]!)
  const done = [
    ...(written > 0 && kind === 'exporter' ? [`writes ${written} rows`] : []),
    ...seen,
    ...(calls.length > 0 ? [`calls ${named(calls)}`] : []),
  ].join('; ')
  const where = app.are_times_numbers ? 'where clients send timestamps as numbers: ' : ''
  if (error) return verdict(false, kind, `its own fault: ${firstLine(error.message)}`)
  if (faults.length > 0) return verdict(false, kind, `its own fault: ${firstLine(faults[0]!.message)}`)
  if (done !== '') return verdict(true, kind, from + where + done)
  return verdict(false, kind, `${from}runs, and does nothing with these events`)
}

function kindOf({ methods, scheduled_tasks = [] }: Record<string, string[] | undefined>): string {
  if (methods === undefined) return 'site app'
  if (methods.includes('exportEvents')) return 'exporter'
  if (methods.includes('onEvent') || methods.includes('composeWebhook')) return 'destination'
  if (methods.includes('processEvent')) return 'transformation'
  return scheduled_tasks.length > 0 ? 'importer' : 'app'
}

/** The config's id, or why there is none. */
async function configure(
  bench: Workbench,
  plugin: { id: number; config_schema: unknown },
  app: Tried,
  login: Login,
): Promise<number | string> {
  const fields = Array.isArray(plugin.config_schema) ? (plugin.config_schema as Field[]) : []
  const config = Object.fromEntries(fields.flatMap((field) => valueOf(field)))
  Object.assign(config, app.config)
  for (const [part, key] of Object.entries(app.database ?? {}))
    if (!(app.config && key in app.config)) config[key] = String(login[part as keyof Login])
  const form = new FormData()
  form.append('plugin', String(plugin.id))
  form.append('enabled', 'true')
  form.append('config', JSON.stringify(config))
  for (const [key, given] of Object.entries(app.attachments ?? {})) {
    form.append(
      `add_attachment[${key}]`,
      new File([await attachmentOf(given)], 'file.json', { type: 'application/json' }),
    )
  }
  const request = new Request('http://localhost', { method: 'POST', body: form })
  const reply = await bench.app.http.inject({
    method: 'POST',
    url: `${bench.projectUrl}/plugin_configs/`,
    headers: { authorization: `Bearer ${bench.key}`, 'content-type': request.headers.get('content-type')! },
    payload: Buffer.from(await request.arrayBuffer()),
  })
  if (reply.statusCode !== 201) return `cannot be switched on: ${reply.payload.slice(0, 200)}`
  await bench.app.plugins.idle()
  return reply.json<{ id: number }>().id
}

function attachmentOf(given: string): string | Promise<Buffer> {
  if (given === GEOIP) return readFile(GEOIP_DATABASE)
  return given === GOOGLE ? serviceAccount() : given
}

function valueOf({ key, type, default: given, choices }: Field): [string, unknown][] {
  if (key === undefined || type === 'attachment') return []
  if (given !== undefined && given !== '') return [[key, given]]
  if (type === 'choice') return [[key, choices?.[0] ?? '']]
  if (type === 'json') return [[key, '{}']]
  return [[key, /url|host/i.test(key) ? 'https://vendor.example' : 'word']]
}

async function turns(bench: Workbench): Promise<void> {
  for (const ahead_ms of [0, 61_000, 20_000, 61_000, 3_600_000, 86_400_000]) {
    bench.app.advance(ahead_ms)
    const { plugins } = bench.app
    for (let n = 0; n < 3; n++) {
      await plugins.tick()
      await plugins.idle()
      await plugins.delivery.tick()
      await plugins.delivery.idle()
    }
  }
}

/** Empty: nothing that can be seen. */
async function whatItDid(
  bench: Workbench,
  config_id: number,
  given: Record<string, unknown>,
): Promise<string[]> {
  const done: string[] = []
  const stored = await bench.stored()
  const own = stored.filter(({ properties }) => properties.$plugin_config_id === config_id)
  const sent = stored.filter(({ properties }) => properties.$plugin_config_id !== config_id)
  if (own.length > 0) done.push(`captures ${named(own.map(({ event }) => event))}`)
  if (sent.length < 3) done.push('drops events')
  const added = sent
    .flatMap(({ properties }) => Object.keys(properties))
    .filter((name) => !KNOWN.has(name) && !(name in given))
  if (added.length > 0) done.push(`sets ${named(added)}`)
  const removed = Object.keys(given).filter((name) =>
    sent.filter(({ event }) => event !== '$ai_generation').some(({ properties }) => !(name in properties)),
  )
  if (removed.length > 0) done.push(`removes ${named(removed)}`)
  if (sent.some(({ event }) => !['signed_up', '$pageview', '$ai_generation'].includes(event)))
    done.push('renames events')
  const usual = sent.filter(({ event }) => event !== '$ai_generation')
  const changed = usual.flatMap(({ properties }) =>
    Object.entries(given).flatMap(([name, value]) =>
      name in properties && JSON.stringify(properties[name]) !== JSON.stringify(value) ? [name] : [],
    ),
  )
  if (changed.length > 0) done.push(`changes ${named(changed)}`)
  const told = await bench.app.post('/decide/?v=3', {
    token: bench.workspace.project.api_token,
    distinct_id: 'a',
  })
  if (told.body.siteApps.some(({ id }: { id: number }) => id === config_id))
    done.push('is served to web pages')
  return done
}

const KNOWN = new Set([
  '$ai_provider',
  '$ai_model',
  '$ai_input_tokens',
  '$ai_output_tokens',

  ...Object.keys(SENT),
  '$set',
  '$set_once',
  '$plugins_succeeded',
  '$plugins_failed',
  '$lib',
])

/** Each once, the first few. */
function named(names: readonly string[]): string {
  const all = [...new Set(names)].map((name) => `\`${name}\``)
  return all.length > 3 ? `${all.slice(0, 3).join(', ')} and ${all.length - 3} more` : all.join(', ')
}

/** Without the id of the event, which is another one in each trial. */
const firstLine = (text: string) =>
  text
    .split('\n')[0]!
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27} /, '')
    .slice(0, 160)
