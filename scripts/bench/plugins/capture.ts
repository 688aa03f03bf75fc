// How fast events are taken in with no, one and three small apps switched on, in turn on one server.
import { setTimeout as sleep } from 'node:timers/promises'
import { uuid7 } from '../../../src/lib/uuid.ts'
import type { MeasuredServer } from '../events/measured-server.ts'
import { freshEvents, requestsOf } from '../events/requests.ts'
import { met } from '../exports/compare.ts'
import {
  configure,
  install,
  nameOnEvents,
  readLog,
  setEnabled,
  withFolder,
  withServer,
  type AppConfig,
} from './served-apps.ts'

const ROUNDS = Number(process.env.PLUGIN_BENCH_ROUNDS ?? 5)
const CAPTURED = Number(process.env.PLUGIN_BENCH_CAPTURED ?? 40_000)
/** For warming up, at the beginning of each round. */
const WARM = 0.25
const COUNTS = [0, 1, 3] as const
const GOAL = 0.7
const NOTICE_MS = 10_000

type Figures = { per_s: number; cpu_us: number }
type Bench = { server: MeasuredServer; apps: readonly AppConfig[]; seed: number }

export function benchCapture(): Promise<boolean> {
  return withFolder((folder) =>
    withServer(folder, async (server) => {
      const bench: Bench = { server, apps: await installApps(server), seed: 1 }
      const rounds = new Map<number, Figures[]>(COUNTS.map((count) => [count, []]))
      for (let round = 0; round < ROUNDS; round++) {
        for (const count of COUNTS) rounds.get(count)!.push(await captureWith(bench, count))
      }
      return print(rounds)
    }),
  )
}

async function installApps(server: MeasuredServer): Promise<AppConfig[]> {
  const apps: AppConfig[] = []
  for (const number of [1, 2, 3]) {
    const code = `export function processEvent(event) { event.properties.app_${number} = 'set'; return event }`
    const plugin = await install(server, `Sets app_${number}`, code)
    apps.push(await configure(server, server.ready.project_id, plugin, { enabled: false }))
  }
  return apps
}

/** One round with the first so many apps. Throws unless every event is stored once, as those apps leave it. */
async function captureWith(bench: Bench, count: number): Promise<Figures> {
  const { server, apps } = bench
  for (const [index, app] of apps.entries()) await setEnabled(server, app, index < count)
  await untilNoticed(bench, count)
  const mark = `round ${bench.seed}`
  const events = freshEvents(CAPTURED, bench.seed++).map((event) => ({
    ...event,
    properties: { ...event.properties, bench: mark },
  }))
  const bodies = requestsOf(events, server.ready.token)
  const warm = Math.round(bodies.length * WARM)
  await server.capture(bodies.slice(0, warm))
  const before = await server.report()
  const { seconds } = await server.capture(bodies.slice(warm))
  const after = await server.report()
  const expected = [...expectedFields(apps, count), CAPTURED, CAPTURED]
  const found = await storedAs(server, mark)
  if (JSON.stringify(found) !== JSON.stringify([expected]))
    throw new Error(`with ${count} apps ${JSON.stringify(found)}; the apps say ${await tellOf(server, apps)}`)
  const timed = CAPTURED * (1 - warm / bodies.length)
  return { per_s: timed / seconds, cpu_us: (after.cpu_us - before.cpu_us) / timed }
}

async function tellOf(server: MeasuredServer, apps: readonly AppConfig[]): Promise<string> {
  const lines = await Promise.all(apps.map((app) => readLog(server, app)))
  return lines.flat().slice(0, 10).join('; ')
}

/** A change of configs takes effect a moment after it was answered. */
async function untilNoticed({ server, apps }: Bench, count: number): Promise<void> {
  const until = performance.now() + NOTICE_MS
  const expected = JSON.stringify([[...expectedFields(apps, count), 1, 1]])
  while (performance.now() < until) {
    const mark = uuid7(new Date())
    const event = { event: 'probe', distinct_id: 'bench', properties: { bench: mark } }
    await server.capture([JSON.stringify({ api_key: server.ready.token, batch: [event] })])
    if (JSON.stringify(await storedAs(server, mark)) === expected) return
    await sleep(100)
  }
  throw new Error(`${count} apps were not at work after ${NOTICE_MS} ms`)
}

function expectedFields(apps: readonly AppConfig[], count: number): (string | null)[] {
  const at_work = apps.slice(0, count)
  const succeeded = count === 0 ? null : JSON.stringify(at_work.map(nameOnEvents))
  return [succeeded, null, ...apps.map((_, index) => (index < count ? 'set' : null))]
}

/** All that apps can have left on events with this mark, each way with how often and how many different events. */
function storedAs(server: MeasuredServer, mark: string): Promise<unknown[][]> {
  const fields = ['$plugins_succeeded', '$plugins_failed', 'app_1', 'app_2', 'app_3']
    .map((name) => `properties.${name}`)
    .join(', ')
  return server.query(
    `select ${fields}, count(), count(distinct uuid) from events where properties.bench = '${mark}' group by ${fields}`,
  )
}

function print(rounds: ReadonlyMap<number, Figures[]>): boolean {
  const [none, one, three] = COUNTS.map((count) => middle(rounds.get(count)!)) as [Figures, Figures, Figures]
  const line = ({ per_s, cpu_us }: Figures) =>
    `${per_s.toFixed(0)} events/s, ${cpu_us.toFixed(0)} µs CPU each with PostgreSQL`
  const [with_one, with_three] = [one.per_s / none.per_s, three.per_s / none.per_s]
  const lines = [
    `capture  ${CAPTURED} events a round over HTTP, ${ROUNDS} rounds of each in turn, the median counts; every event stored once as the apps left it`,
    `         no app ${line(none)}; one ${line(one)}; three ${line(three)}`,
    `         with one app ${with_one.toFixed(2)} of the speed without; goal: at least ${GOAL}: ${met(with_one >= GOAL)}; with three ${with_three.toFixed(2)}`,
  ]
  console.log(lines.join('\n'))
  return with_one >= GOAL
}

function middle(rounds: readonly Figures[]): Figures {
  return rounds.toSorted((a, b) => a.per_s - b.per_s)[Math.floor(rounds.length / 2)]!
}
