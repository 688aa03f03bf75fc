// How long calls of the API, and events through an app of one project, take while the apps of another project do their
// worst; beside the same calls and events, those of the other project included, while its apps are switched off.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { uuid7 } from '../../../src/lib/uuid.ts'
import type { MeasuredServer } from '../events/measured-server.ts'
import { met } from '../exports/compare.ts'
import { paced, percentile, shown } from '../paced.ts'
import { ATTACK_EVERY_MS, attackers, startTarget, type Attacker, type Target } from './attackers.ts'
import {
  configure,
  createProject,
  install,
  nameOnEvents,
  readConfig,
  readLog,
  setEnabled,
  withFolder,
  withServer,
  type AppConfig,
  type Project,
} from './served-apps.ts'

const SECONDS = Number(process.env.PLUGIN_BENCH_SECONDS ?? 40)
const GOAL = 2
const EVERY_MS = 20
const LOOK_EVERY_MS = 500
/** Shown at most. */
const COMPLAINTS = 5
const CALL = '/api/organizations/@current/'
const NEIGHBOUR = `export function processEvent(event) { event.properties.neighbour = 'set'; return event }`

type Attacking = AppConfig & Pick<Attacker, 'shows_by'>
type Scene = {
  server: MeasuredServer
  target: Target
  neighbour: { project: Project; app: AppConfig }
  attack: { project: Project; apps: readonly Attacking[] }
}
/** Sorted; of the API and of the neighbour's events. */
type Latencies = { api: number[]; events: number[]; without_app: number; loop_p99_ms: number }

export function benchAttack(): Promise<boolean> {
  return withFolder((folder) =>
    withServer(folder, async (server) => {
      const target = await startTarget()
      try {
        const scene = await setUp(server, target)
        await measure(scene, 3_000)
        const before = await measure(scene, SECONDS * 1000)
        for (const app of scene.attack.apps) await setEnabled(server, app, true)
        const switching = new AbortController()
        const switched = keepSwitchedOn(scene, switching.signal)
        const during = await measure(scene, SECONDS * 1000)
        switching.abort()
        const attack = await describeAttack(scene, await switched)
        const complaints = new Set(await readLog(server, scene.neighbour.app))
        return print(before, during, attack, complaints)
      } finally {
        await target.stop()
      }
    }),
  )
}

async function setUp(server: MeasuredServer, target: Target): Promise<Scene> {
  const [quiet, loud] = [await createProject(server, 'Neighbour'), await createProject(server, 'Attackers')]
  const plugin = await install(server, 'Neighbour', NEIGHBOUR)
  const app = await configure(server, quiet.id, plugin, { enabled: true })
  const apps: Attacking[] = []
  for (const { name, code, shows_by } of attackers(target.port)) {
    const attacker = await install(server, name, code)
    apps.push({ ...(await configure(server, loud.id, attacker, { enabled: false })), shows_by })
  }
  return { server, target, neighbour: { project: quiet, app }, attack: { project: loud, apps } }
}

/** Calls, events of the neighbour and events of the attacked project at their paces, for so long. */
async function measure(scene: Scene, for_ms: number): Promise<Latencies> {
  const { server, neighbour, attack } = scene
  const mark = uuid7(new Date())
  // As many connections as there are requests, apart from those of the API: no request waits for another on our side.
  const pool = new Pool(`http://127.0.0.1:${server.ready.port}`)
  // Asking begins a new count of how late the event loop is.
  await server.report()
  const time = sleep(for_ms)
  const [api, events] = await Promise.all([
    paced(EVERY_MS, () => call(server), time),
    paced(EVERY_MS, () => send(pool, eventOf(neighbour.project, mark)), time),
    paced(ATTACK_EVERY_MS, () => send(pool, eventOf(attack.project, mark)), time),
  ])
  const { loop_p99_ms } = await server.report()
  await pool.close()
  return { api, events, loop_p99_ms, without_app: await countWithoutApp(scene, mark, events.length) }
}

async function call(server: MeasuredServer): Promise<void> {
  const { id } = await server.get(CALL)
  if (typeof id !== 'string') throw new Error('the organization has no id')
}

async function send(pool: Pool, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ method: 'POST', path: '/batch/', headers, body })
  await answer.body.dump()
  if (answer.statusCode !== 200) throw new Error(`an event was answered with ${answer.statusCode}`)
}

function eventOf({ api_token }: Project, mark: string): string {
  const event = { event: 'order', distinct_id: 'bench', properties: { bench: mark } }
  return JSON.stringify({ api_key: api_token, batch: [event] })
}

/** Events of the neighbour that its app has not left its mark on. Throws unless all are stored, once each. */
async function countWithoutApp({ server, neighbour }: Scene, mark: string, sent: number): Promise<number> {
  const rows = await server.query(
    `select properties.neighbour, properties.$plugins_succeeded, properties.$plugins_failed, count(), count(distinct uuid)
     from events where properties.bench = '${mark}'
     group by properties.neighbour, properties.$plugins_succeeded, properties.$plugins_failed`,
    neighbour.project.id,
  )
  const sum = (column: number) => rows.reduce((count, row) => count + Number(row[column]), 0)
  if (sum(3) !== sent || sum(4) !== sent)
    throw new Error(`${sent} events of the neighbour were answered well, ${sum(3)} are stored`)
  const whole = JSON.stringify(['set', JSON.stringify([nameOnEvents(neighbour.app)]), null])
  const isWhole = (row: unknown[]) => JSON.stringify(row.slice(0, 3)) === whole
  return rows.filter((row) => !isWhole(row)).reduce((count, row) => count + Number(row[3]), 0)
}

/** How often they had to be switched on again, which is what an attacker would do. */
async function keepSwitchedOn({ server, attack }: Scene, signal: AbortSignal): Promise<number> {
  let times = 0
  while (!signal.aborted) {
    for (const app of attack.apps.filter(({ shows_by }) => shows_by === 'limits')) {
      if ((await readConfig(server, app)).enabled) continue
      await setEnabled(server, app, true)
      times++
    }
    await sleep(LOOK_EVERY_MS)
  }
  return times
}

/** What they did, in words. Throws when one of them did nothing: then there was no attack to speak of. */
async function describeAttack({ server, target, attack }: Scene, times: number): Promise<string> {
  const did: string[] = []
  for (const app of attack.apps) {
    const lines = await readLog(server, app)
    const counts = {
      limits: lines.filter((line) => / failed: /.test(line)).length,
      requests: await target.requests(),
      'log lines': lines.filter((line) => /lines dropped/.test(line)).length,
    }
    if (counts[app.shows_by] === 0) throw new Error(`the app ${app.name} did nothing`)
    did.push(`${app.name} ${WORDS[app.shows_by](counts[app.shows_by])}`)
  }
  return `${did.join(', ')}; switched on again ${times} times`
}

const WORDS: Record<Attacker['shows_by'], (count: number) => string> = {
  limits: (count) => `stopped ${count} times`,
  requests: (count) => `made ${count} requests`,
  'log lines': (count) => `lost lines in ${count} seconds`,
}

function print(
  before: Latencies,
  during: Latencies,
  attack: string,
  complaints: ReadonlySet<string>,
): boolean {
  const ratioOf = (which: 'api' | 'events') =>
    percentile(during[which], 0.99) / percentile(before[which], 0.99)
  const [api, events] = [ratioOf('api'), ratioOf('events')]
  const isWhole = before.without_app === 0 && during.without_app === 0
  const goal = (ratio: number) =>
    `${ratio.toFixed(2)} times that of before; goal: at most ${GOAL}: ${met(ratio <= GOAL)}`
  console.log(
    [
      `attack   ${SECONDS} s before and ${SECONDS} s with hostile apps in another project: ${attack}`,
      `         GET ${CALL} every ${EVERY_MS} ms: before ${shown(before.api)}; during ${shown(during.api)}; p99 ${goal(api)}`,
      `         an event through the app of a neighbour every ${EVERY_MS} ms: before ${shown(before.events)}; during ${shown(during.events)}; p99 ${goal(events)}`,
      `         event loop of the server late by ${before.loop_p99_ms.toFixed(1)} ms at p99 before, ${during.loop_p99_ms.toFixed(1)} ms during`,
      `         events of the neighbour all stored once; without what its app sets: before ${before.without_app}, during ${during.without_app}; goal: none: ${met(isWhole)}`,
      ...[...complaints]
        .slice(0, COMPLAINTS)
        .map((line) => `         the app of the neighbour says: ${line}`),
    ].join('\n'),
  )
  return api <= GOAL && events <= GOAL && isWhole
}
