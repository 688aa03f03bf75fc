// One version of the program, with as many projects as the bench wants.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectionOf, postmasterOf, type Program, type Running } from '../../../test/end-to-end/program.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { call, KEY } from '../../crash/first-project.ts'
import { measureTrees, type TreeFigures } from '../../process-tree.ts'

export type Project = { id: number; token: string }

const AT_ONCE = 8
const METRICS_TOKEN = 'bench-metrics-token'

export class Served {
  readonly name: string
  readonly #program: Program
  readonly #env: Record<string, string>
  readonly projects: Project[] = []
  #server: Running
  url = ''

  constructor(name: string, program: Program) {
    this.name = name
    this.#program = program
    this.#env = {
      DATA_DIR: program.newDataDir(),
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      BOOTSTRAP_API_KEY: KEY,
      METRICS_TOKEN,
    }
    this.#server = program.serve(this.#env)
  }

  async start(): Promise<void> {
    this.url = await this.#server.url
    await this.#readProjects()
  }

  async growTo(count: number): Promise<void> {
    let next = this.projects.length
    const create = async () => {
      while (next < count) {
        const name = `Project ${next++}`
        await call(this.url, 'POST', '/api/organizations/@current/projects/', { name })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, create))
    await this.#readProjects()
  }

  /** Figures of the server, the query processes and PostgreSQL together. */
  async figures(): Promise<TreeFigures> {
    const postmaster = await postmasterOf(this.#env.DATA_DIR!)
    return measureTrees([this.#server.pid, ...(postmaster === null ? [] : [postmaster])])
  }

  async loopP99Ms(): Promise<number> {
    const response = await fetch(`${this.url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    })
    const text = await response.text()
    return Number(/^nodejs_eventloop_lag_p99_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1]) * 1000
  }

  async countEvents({ id }: Project): Promise<number> {
    const query = { kind: 'HogQLQuery', query: 'select count() from events' }
    const { results } = await call(this.url, 'POST', `/api/projects/${id}/query/`, { query })
    return (results as number[][])[0]![0]!
  }

  /** Share of one processor that it takes while nobody asks for anything. */
  async idleShare(seconds: number): Promise<number> {
    const before = await this.figures()
    await sleep(seconds * 1000)
    return ((await this.figures()).cpu_s - before.cpu_s) / seconds
  }

  /** Kills the server; returns how many seconds the next start took. */
  async killAndStart(): Promise<number> {
    this.#server.kill('SIGKILL')
    await this.#server.ended
    const began = performance.now()
    this.#server = this.#program.serve(this.#env)
    this.url = await this.#server.url
    return (performance.now() - began) / 1000
  }

  async #readProjects(): Promise<void> {
    const db = openDatabase({ ...connectionOf(this.#env.DATA_DIR!), max: 1 })
    const rows = await db.rows<Project>(sql`SELECT id, api_token AS token FROM project ORDER BY id`)
    await db.close()
    this.projects.splice(0, this.projects.length, ...rows)
  }
}
