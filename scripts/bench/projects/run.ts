// Single events for one project and for thousands: what each costs, and what projects cost that merely exist.
// BENCH_AGAINST names another checkout, installed, whose program is measured beside this one's.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildProgram, type Program } from '../../../test/end-to-end/program.ts'
import { measureTrees } from '../../process-tree.ts'
import { startAgain } from '../../start-again.ts'
import { freshEvents } from '../events/requests.ts'
import { CONNECTIONS, sendSingles, type Load } from './load.ts'
import { Served } from './served.ts'

const COUNTS = (process.env.BENCH_PROJECTS ?? '1,10,100,1000,10000').split(',').map(Number)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10)
const WARM_UP_S = 3
const SETTLING = 3
const IDLE_S = 10
const CHECKED = 50

type Figures = {
  cpu_ms: number
  per_s: number
  p50_ms: number
  p99_ms: number
  memory_mb: number
  loop_ms: number
}

export async function benchProjects(): Promise<boolean> {
  const roots = { 'this version': process.cwd(), ...(against ? { 'the other version': against } : {}) }
  const programs: Program[] = []
  try {
    const served: Served[] = []
    for (const [name, root] of Object.entries(roots)) {
      const program = await buildProgram(root)
      programs.push(program)
      const server = new Served(name, program)
      await server.start()
      served.push(server)
    }
    console.log(`bare route: ${row(await measureBare())}\n`)
    for (const server of served) await settle(server)
    const measured = new Map(served.map((server) => [server, [] as Figures[]]))
    for (const count of COUNTS) {
      for (const server of served) {
        await server.growTo(count)
        const figures = await measure(server, count)
        measured.get(server)!.push(figures)
        console.log(`${server.name}, ${count} projects: ${row(figures)}`)
      }
    }
    for (const server of served) await printRest(server)
    return print(measured.get(served[0]!)!)
  } finally {
    for (const program of programs) await program.remove()
  }
}

const against = process.env.BENCH_AGAINST
let seed = 100

/**
 * A program that has just begun holds less than it will with one project: PostgreSQL has yet to touch its buffers, and the
 * second process for questions starts when two are asked at once.
 */
async function settle(server: Served): Promise<void> {
  const [project] = server.projects
  for (let times = 0; times < SETTLING; times++) {
    await sendSingles(server.url, [project!.token], freshEvents(5000, seed++), SECONDS)
    await Promise.all([server.countEvents(project!), server.countEvents(project!)])
  }
}

async function measure(server: Served, count: number): Promise<Figures> {
  const active = server.projects.slice(0, count)
  const tokens = active.map(({ token }) => token)
  const events = freshEvents(5000, seed++)
  const checked = active.filter((_, index) => index % Math.ceil(count / CHECKED) === 0)
  const before = await Promise.all(checked.map((project) => server.countEvents(project)))
  const warm = await sendSingles(server.url, tokens, events, WARM_UP_S)
  await server.loopP99Ms()
  const start = await server.figures()
  const load = await sendSingles(server.url, tokens, events, SECONDS)
  const end = await server.figures()
  const loop_ms = await server.loopP99Ms()
  for (const [index, project] of checked.entries()) {
    const acknowledged = (warm.sent.get(project.token) ?? 0) + (load.sent.get(project.token) ?? 0)
    const stored = (await server.countEvents(project)) - before[index]!
    if (stored !== acknowledged)
      throw new Error(`project ${project.id}: ${acknowledged} acknowledged, ${stored} there`)
  }
  return { ...costOf(load, end.cpu_s - start.cpu_s), memory_mb: end.memory_mb, loop_ms }
}

function costOf({ sent, seconds, p50_ms, p99_ms }: Load, cpu_s: number) {
  const count = [...sent.values()].reduce((sum, each) => sum + each, 0)
  return { cpu_ms: (cpu_s * 1000) / count, per_s: count / seconds, p50_ms, p99_ms }
}

async function measureBare(): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-bare-'))
  const child = startAgain({ BENCH_BARE_ROUTE: join(folder, 'events') })
  try {
    const [port] = (await once(child, 'message')) as [number]
    const [url, events] = [`http://127.0.0.1:${port}`, freshEvents(5000, seed++)]
    await sendSingles(url, ['token'], events, WARM_UP_S)
    const start = measureTrees([child.pid!])
    const load = await sendSingles(url, ['token'], events, SECONDS)
    const end = measureTrees([child.pid!])
    return { ...costOf(load, end.cpu_s - start.cpu_s), memory_mb: end.memory_mb, loop_ms: NaN }
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

/** With all its projects: one of them active, none active, and a start after a kill. */
async function printRest(server: Served): Promise<void> {
  const one = await measure(server, 1)
  const idle = await server.idleShare(IDLE_S)
  const start_s = await server.killAndStart()
  console.log(
    `${server.name}, one of ${server.projects.length} projects active: ${row(one)}\n` +
      `  idle ${(idle * 100).toFixed(1)} % of a processor; ready ${start_s.toFixed(1)} s after kill -9`,
  )
}

function row({ per_s, cpu_ms, p50_ms, p99_ms, memory_mb, loop_ms }: Figures): string {
  const loop = Number.isNaN(loop_ms) ? '' : `, event loop p99 ${loop_ms.toFixed(0)} ms`
  return `${per_s.toFixed(0)} events/s, ${cpu_ms.toFixed(2)} ms CPU each, p50 ${p50_ms.toFixed(0)} ms, p99 ${p99_ms.toFixed(0)} ms, ${memory_mb.toFixed(0)} MB${loop}`
}

function print(figures: readonly Figures[]): boolean {
  const spread = (pick: (each: Figures) => number) => {
    const values = figures.map(pick)
    return Math.max(...values) / Math.min(...values)
  }
  const [cpu, memory] = [spread(({ cpu_ms }) => cpu_ms), spread(({ memory_mb }) => memory_mb)]
  const goal = (isMet: boolean) => (isMet ? 'met' : 'NOT met')
  console.log(
    `\n${CONNECTIONS} connections; counts of up to ${CHECKED} projects were compared with what was acknowledged\n` +
      `CPU per event: ${cpu.toFixed(2)} times apart; goal: at most 1.3: ${goal(cpu <= 1.3)}\n` +
      `memory: ${memory.toFixed(2)} times apart; goal: at most 1.15: ${goal(memory <= 1.15)}`,
  )
  return cpu <= 1.3 && memory <= 1.15
}
