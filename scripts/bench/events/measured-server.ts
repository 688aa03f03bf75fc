// The bench's side of the measured server: start, ask, load, stop.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'
import { postmasterOf } from '../../../test/end-to-end/program.ts'
import { measureTrees } from '../../process-tree.ts'
import { startAgain } from '../../start-again.ts'
import { KEY, type Ready, type Report } from './server.ts'

const CONNECTIONS = 32

export class MeasuredServer {
  readonly ready: Ready
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #pool: Pool

  private constructor(folder: string, child: ChildProcess, ready: Ready) {
    this.#folder = folder
    this.#child = child
    this.ready = ready
    this.#pool = new Pool(`http://127.0.0.1:${ready.port}`, { connections: CONNECTIONS })
  }

  static async start(folder: string): Promise<MeasuredServer> {
    const child = startAgain({ BENCH_EVENT_SERVER: folder })
    const [ready] = (await once(child, 'message')) as [Ready]
    return new MeasuredServer(folder, child, ready)
  }

  /** CPU and memory are of all processes: those that answer questions and PostgreSQL work for the server. */
  async report(): Promise<Report & { cpu_us: number; memory_mb: number }> {
    this.#child.send('report')
    const [report] = (await once(this.#child, 'message')) as [Report]
    const postmaster = await postmasterOf(this.#folder)
    const { cpu_s, memory_mb } = measureTrees([
      this.#child.pid!,
      ...(postmaster === null ? [] : [postmaster]),
    ])
    return { ...report, cpu_us: cpu_s * 1e6, memory_mb }
  }

  /** Sends the bodies, as many at a time as there are connections. Throws when one is not taken. */
  async capture(bodies: readonly string[]): Promise<{ seconds: number; latencies_ms: number[] }> {
    const latencies_ms: number[] = []
    const began = performance.now()
    let next = 0
    const send = async () => {
      while (next < bodies.length) {
        const body = bodies[next++]!
        const start = performance.now()
        const headers = { 'content-type': 'application/json' }
        const response = await this.#pool.request({ method: 'POST', path: '/batch/', headers, body })
        const text = await response.body.text()
        if (response.statusCode !== 200) throw new Error(`capture answered ${response.statusCode}: ${text}`)
        latencies_ms.push(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, send))
    return { seconds: (performance.now() - began) / 1000, latencies_ms }
  }

  get(path: string): Promise<Record<string, unknown>> {
    return this.ask('GET', path)
  }

  async query(query: string, project: number | '@current' = '@current'): Promise<unknown[][]> {
    const body = { query: { kind: 'HogQLQuery', query } }
    const answer = await this.ask('POST', `/api/projects/${project}/query/`, body)
    return answer.results as unknown[][]
  }

  async ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await this.#pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = (await response.body.json()) as Record<string, unknown>
    if (response.statusCode >= 300)
      throw new Error(`${path} answered ${response.statusCode}: ${JSON.stringify(answer)}`)
    return answer
  }

  async stop(): Promise<void> {
    await this.#pool.close()
    this.#child.send('stop')
    await once(this.#child, 'exit')
  }
}
