// Everything a round needs: the server of the hour, the senders, the places, and what is known of all events.
import { dirname, join } from 'node:path'
import { openDatabase, type Database } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { connectionOf, postmasterOf, type Env, type Program } from '../../../test/end-to-end/program.ts'
import { Sender } from '../../crash/events/sender.ts'
import type { Random } from '../../crash/random.ts'
import { backfill, KEY, makeExports, retryRun, totalsOf, type MadeExport } from './api.ts'
import { Clock } from './clock.ts'
import { Deliveries } from './deliveries.ts'
import { Ledger } from './ledger.ts'
import { listLeftovers } from './leftovers.ts'
import { openPlaces, REACH, type Places } from './places.ts'
import { composeRush } from './rush.ts'
import { countActive, findDelivered, listEnded, waitUntilSettled } from './runs.ts'
import { buildServer, startServer, type Ended, type ServerProcess } from './server-process.ts'
import { expectPromisedRows, indexTable } from './table.ts'

const SENDERS = 2
/** Batches that a sender may send again: old ones would no longer be known, events are recognised for a day. */
const KEPT_BATCHES = 20

export class Stage {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly known_runs = new Set<string>()
  deliveries!: Deliveries
  readonly #exported = new Map<string, number>()
  readonly #fault = (text: string) => void this.#faults.push(text)
  #faults: string[] = []
  #exports: MadeExport[] = []
  #token = ''
  #senders: Sender[] = []
  #server: ServerProcess | null = null
  #db: Database | null = null
  #load: { stop: AbortController; done: Promise<unknown> } | null = null

  private constructor(
    readonly env: Env,
    readonly places: Places,
    private readonly main: string,
    random: Random,
  ) {
    this.clock = new Clock(random.fork())
    this.ledger = new Ledger(this.#fault)
  }

  /** The first start, at the real hour: makes the exports. */
  static async open(program: Program, random: Random): Promise<Stage> {
    const main = await buildServer(program)
    const DATA_DIR = program.newDataDir()
    const env = { DATA_DIR, HOME: dirname(main), RATE_LIMITS: 'off', BOOTSTRAP_API_KEY: KEY, ...REACH }
    const stage = new Stage(env, await openPlaces(join(DATA_DIR, 'exports/1')), main, random)
    try {
      stage.deliveries = await Deliveries.open(stage.places, stage.ledger, stage.#fault)
      await stage.#startAtHour()
      stage.#exports = await makeExports(stage.#server!.url, stage.places.exports, stage.clock.now())
      const { api_token } = await stage.#db!.only<{ api_token: string }>(sql`SELECT api_token FROM project`)
      stage.#token = api_token
      stage.#senders = Array.from(
        { length: SENDERS },
        (_, index) => new Sender(`sender-${index}`, api_token, random.fork(), stage.#fault),
      )
      await stage.kill('server')
      return stage
    } catch (error) {
      await stage.close()
      throw error
    }
  }

  get events(): number {
    return this.ledger.sent
  }

  get db(): Database {
    return this.#db!
  }

  countActive(): Promise<number> {
    return countActive(this.#db!)
  }

  takeFaults(): string[] {
    return this.#faults.splice(0)
  }

  /** Gives how long it took. */
  async start(direction: 'forward' | 'back'): Promise<number> {
    if (direction === 'forward') this.clock.forward()
    else this.clock.back()
    return this.#startAtHour()
  }

  /** The next events to come in are thousands. */
  addRush(random: Random): void {
    random.pick(this.#senders).batches.push(composeRush(this.#token, random))
  }

  /** Those that nobody acknowledged come again first. */
  async letEventsIn(): Promise<void> {
    await this.sendAgain()
    const stop = new AbortController()
    this.#load = { stop, done: Promise.all(this.#senders.map((sender) => sender.work(stop.signal))) }
  }

  async sendAgain(): Promise<void> {
    for (const sender of this.#senders) sender.url = this.#server!.url
    await Promise.all(this.#senders.map((sender) => sender.retry()))
  }

  /** At any moment the parts make the whole, and nothing that was exported comes back. */
  async checkAccounts(): Promise<void> {
    for (const made of this.#exports) {
      const totals = await totalsOf(this.#server!.url, made)
      const { received, exported, filtered_out, pending, skipped } = totals
      if (received !== exported + filtered_out + pending + skipped || Math.min(...Object.values(totals)) < 0)
        this.#fault(`${made.name}: ${JSON.stringify(totals)} does not add up`)
      const before = this.#exported.get(made.id) ?? 0
      if (exported < before) this.#fault(`${made.name}: ${exported} exported, and ${before} before`)
      if (!made.paused && (filtered_out > 0 || skipped > 0))
        this.#fault(`${made.name}: ${filtered_out} filtered out and ${skipped} skipped`)
      this.#exported.set(made.id, exported)
    }
  }

  /** A run that has delivered again, or a stretch of the past. */
  async askForMore(random: Random): Promise<void> {
    const made = random.pick(this.#exports)
    const { url } = this.#server!
    const chance = random.below(1000) / 1000
    const isRetry = !made.paused && (made.kind === 'folder' || made.kind === 'bucket' || random.chance(30))
    if (!isRetry) return void (await backfill(url, made, random, this.clock.now()))
    const run_id = await findDelivered(this.#db!, made.id, chance)
    if (run_id !== null) await retryRun(url, made, run_id)
  }

  /** Until nothing is at work; then everything that was acknowledged before this start is where it belongs, once. */
  async settle(): Promise<void> {
    const stuck = await waitUntilSettled(this.#db!, () => this.clock.now())
    if (stuck !== null) this.#fault(`stuck: ${stuck}`)
    this.deliveries.takeBatches()
    const made_by_id = new Map(this.#exports.map((made) => [made.id, made]))
    for (const run of await listEnded(this.#db!, this.known_runs)) {
      this.known_runs.add(run.id)
      await this.deliveries.look(run, made_by_id.get(run.batch_export_id)!)
    }
    await indexTable(this.places.warehouse.admin)
    await expectPromisedRows(this.places.warehouse.admin, this.ledger, this.#fault)
    for (const { name, kind, paused } of this.#exports) {
      if (!paused && kind !== 'table') this.ledger.expectPromised(name)
    }
    this.ledger.promisesKept()
    for (const leftover of await listLeftovers(this.places, this.env.DATA_DIR!))
      this.#fault(`left: ${leftover}`)
    await this.checkAccounts()
    await this.#checkExported()
  }

  async kill(what: 'server' | 'server and PostgreSQL'): Promise<void> {
    const postmaster = what === 'server' ? null : await postmasterOf(this.env.DATA_DIR!)
    await this.#end((server) => {
      if (postmaster !== null) process.kill(postmaster, 'SIGKILL')
      return server.kill()
    })
  }

  async stop(): Promise<void> {
    const { code } = await this.#end((server) => server.stop())
    if (code !== 0) this.#fault(`an ordered stop gave exit code ${code}`)
  }

  async close(): Promise<void> {
    if (this.#server) await this.stop()
    this.deliveries?.close()
    await this.places.close()
  }

  async #startAtHour(): Promise<number> {
    this.#server = await startServer(this.main, this.env, this.clock.offset_ms)
    this.#db = openDatabase({ ...connectionOf(this.env.DATA_DIR!), max: 1 })
    return this.#server.start_ms
  }

  async #end(how: (server: ServerProcess) => Promise<Ended>): Promise<Ended> {
    const server = this.#server!
    this.#server = null
    await this.#db!.close()
    const ended = await how(server)
    this.#load?.stop.abort()
    await this.#load?.done
    this.#load = null
    for (const line of ended.complaints) this.#fault(`the server says ${line}`)
    for (const sender of this.#senders) this.#collect(sender)
    return ended
  }

  /** What was acknowledged in this life of the server is promised from now on. */
  #collect({ batches }: Sender): void {
    for (const { uuids, is_acknowledged } of batches) {
      this.ledger.send(uuids)
      if (is_acknowledged) this.ledger.promise(uuids)
    }
    const acknowledged = batches.filter(({ is_acknowledged }) => is_acknowledged)
    const forgotten = new Set(acknowledged.slice(0, -KEPT_BATCHES))
    batches.splice(0, batches.length, ...batches.filter((batch) => !forgotten.has(batch)))
  }

  async #checkExported(): Promise<void> {
    for (const { id, name, kind, paused } of this.#exports) {
      if (paused || kind === 'table') continue
      const [said, found] = [this.#exported.get(id), this.ledger.delivered(name)]
      if (said !== found) this.#fault(`${name}: ${said} exported by its account, ${found} are there`)
    }
  }
}
