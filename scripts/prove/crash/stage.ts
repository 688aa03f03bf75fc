// Everything a round needs: the server of the hour, the senders, the places, and what is known of all events.
import { setMaxListeners } from 'node:events'
import { dirname } from 'node:path'
import { openDatabase, type Database } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { connectionOf, postmasterOf, type Env, type Program } from '../../../test/end-to-end/program.ts'
import { Sender } from '../../crash/events/sender.ts'
import type { Random } from '../../crash/random.ts'
import {
  askForRange,
  backfillEverything,
  changeFileSize,
  makeExports,
  pause,
  retryRun,
  runNow,
  TooMuch,
  unpause,
  type MadeExport,
} from './api.ts'
import { KEY } from '../../crash/first-project.ts'
import { Accounts } from './accounts.ts'
import { Clock } from './clock.ts'
import { Deliveries, expectPromised, lookAtEnded } from './deliveries.ts'
import { Ledger } from './ledger.ts'
import { listLeftovers } from './leftovers.ts'
import { openPlaces, REACH, type Places } from './places.ts'
import { composeRush } from './rush.ts'
import { countActive, findDelivered, waitUntilSettled } from './runs.ts'
import { buildServer, startServer, type Ended, type ServerProcess } from './server-process.ts'

const SENDERS = 2
/** Without, events come in faster than everything else gets on, and a round takes minutes instead of seconds. */
const SENDER_PAUSE_MS = 50

type Parts = {
  env: Env
  main: string
  places: Places
  ledger: Ledger
  deliveries: Deliveries
  clock: Clock
  faults: string[]
}

export class Stage {
  readonly #parts: Parts
  readonly #fault: (text: string) => void
  readonly #known_runs = new Set<string>()
  readonly #accounts: Accounts
  /** Exports that were paused at some time: what they skipped is made up for later. */
  readonly #was_paused = new Set<string>()
  /** Each is told once. */
  #known_leftovers: ReadonlySet<string> = new Set()
  #exports: MadeExport[] = []
  #senders: Sender[] = []
  #token = ''
  #server: ServerProcess | null = null
  #db: Database | null = null
  #load: { stop: AbortController; done: Promise<unknown> } | null = null

  private constructor(parts: Parts) {
    this.#parts = parts
    this.#fault = (text) => void parts.faults.push(text)
    this.#accounts = new Accounts(this.#fault)
  }

  static async open(program: Program, random: Random): Promise<Stage> {
    const main = await buildServer(program)
    const DATA_DIR = program.newDataDir()
    const EXPORT_DIR = program.newDataDir()
    const HOME = dirname(main)
    const env = { DATA_DIR, EXPORT_DIR, HOME, RATE_LIMITS: 'off', BOOTSTRAP_API_KEY: KEY, ...REACH }
    const faults: string[] = []
    const fault = (text: string) => void faults.push(text)
    const ledger = new Ledger(fault)
    const places = await openPlaces(EXPORT_DIR)
    const deliveries = new Deliveries(places, ledger, fault)
    const clock = new Clock(random.fork())
    const stage = new Stage({ env, main, places, ledger, deliveries, clock, faults })
    try {
      await stage.#setUp(random)
      return stage
    } catch (error) {
      await stage.close()
      throw error
    }
  }

  get events(): number {
    return this.#parts.ledger.sent
  }

  get clock(): Clock {
    return this.#parts.clock
  }

  /** The database of the server that is running. */
  get db(): Database {
    return this.#db!
  }

  get parts(): Pick<Parts, 'env' | 'places' | 'ledger' | 'deliveries'> {
    return this.#parts
  }

  countActive(): Promise<number> {
    return countActive(this.db)
  }

  takeFaults(): string[] {
    return this.#parts.faults.splice(0)
  }

  /** Gives how long it took. */
  async start(direction: 'forward' | 'to the next hour' | 'back'): Promise<number> {
    if (direction === 'forward') this.clock.forward()
    else if (direction === 'back') this.clock.back()
    else this.clock.toNextHour()
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
    // Each request listens to it until its answer is collected as garbage.
    setMaxListeners(0, stop.signal)
    this.#load = {
      stop,
      done: Promise.all(this.#senders.map((sender) => sender.work(stop.signal, SENDER_PAUSE_MS))),
    }
  }

  async sendAgain(): Promise<void> {
    for (const sender of this.#senders) sender.url = this.#server!.url
    await Promise.all(this.#senders.map((sender) => sender.retry()))
  }

  async checkAccounts(): Promise<void> {
    for (const made of this.#exports) {
      const may_skip = made.is_for_backfills || this.#was_paused.has(made.id)
      await this.#accounts.check(this.#server!.url, made, may_skip)
    }
  }

  /** Something beside the schedule; unless so many backfills are at work that no more are taken. */
  async askForMore(random: Random): Promise<void> {
    await this.#askForMore(random).catch((error: unknown) => {
      if (!(error instanceof TooMuch)) throw error
    })
  }

  async #askForMore(random: Random): Promise<void> {
    const made = random.pick(this.#exports)
    const { url } = this.#server!
    const draw = random.below(100)
    if (draw < 15 && !made.is_for_backfills) {
      this.#was_paused.add(made.id)
      return made.paused ? unpause(url, made) : pause(url, made)
    }
    if (draw < 25 && !made.is_for_backfills && !made.paused) return runNow(url, made)
    if (draw < 35 && made.destination.config.max_file_size_mb !== undefined) {
      await changeFileSize(url, made, random)
    } else if (draw < 70) {
      return askForRange(url, made, draw < 55 ? 'backfill' : 'repair', random, this.clock.now())
    }
    const run_id = await findDelivered(this.db, made.id, random.below(1000) / 1000)
    if (run_id !== null) await retryRun(url, made, run_id)
  }

  /** What was set aside goes out after all, and exports without a schedule get everything. */
  async catchUp(): Promise<void> {
    const { url } = this.#server!
    for (const made of this.#exports) {
      if (made.is_for_backfills) await backfillEverything(url, made, this.clock.now())
      else if (made.paused) await unpause(url, made)
    }
  }

  /** By name, with where its files are. */
  get exports(): readonly MadeExport[] {
    return this.#exports
  }

  /** Until nothing is at work; then everything that was acknowledged before this start is where it belongs, once. */
  async settle(): Promise<void> {
    const { env, places, ledger, deliveries } = this.#parts
    const stuck = await waitUntilSettled(this.db, () => this.clock.now())
    if (stuck !== null) this.#fault(`stuck: ${stuck}`)
    await lookAtEnded({ db: this.db, known: this.#known_runs, exports: this.#exports, deliveries })
    await expectPromised(places, this.#exports, ledger, this.#fault)
    const leftovers = await listLeftovers(places, env.DATA_DIR!)
    for (const each of leftovers) if (!this.#known_leftovers.has(each)) this.#fault(`left: ${each}`)
    this.#known_leftovers = new Set(leftovers)
    await this.checkAccounts()
    this.#accounts.compare(this.#exports, ledger)
  }

  /** Gives how many runs were at work. */
  async kill(what: 'server' | 'server and PostgreSQL'): Promise<number> {
    const ended = await this.#server!.kill()
    const at_work = await countActive(this.db)
    const postmaster = what === 'server' ? null : await postmasterOf(this.#parts.env.DATA_DIR!)
    if (postmaster !== null) process.kill(postmaster, 'SIGKILL')
    await this.#afterwards(ended)
    return at_work
  }

  async stop(): Promise<void> {
    const ended = await this.#server!.stop()
    if (ended.code !== 0) this.#fault(`an ordered stop gave exit code ${ended.code}`)
    await this.#afterwards(ended)
  }

  async close(): Promise<void> {
    if (this.#server) await this.stop()
    await this.#parts.places.close()
  }

  /** The first start, at the real hour: makes the exports. */
  async #setUp(random: Random): Promise<void> {
    await this.#startAtHour()
    const { api_token } = await this.db.only<{ api_token: string }>(sql`SELECT api_token FROM project`)
    this.#token = api_token
    this.#exports = await makeExports(this.#server!.url, this.#parts.places.exports)
    this.#senders = Array.from(
      { length: SENDERS },
      (_, index) => new Sender(`sender-${index}`, api_token, random.fork(), this.#fault),
    )
    await this.kill('server')
  }

  async #startAtHour(): Promise<number> {
    this.#server = await startServer(this.#parts.main, this.#parts.env, this.clock.offset_ms)
    this.#db = openDatabase({ ...connectionOf(this.#parts.env.DATA_DIR!), max: 1 })
    return this.#server.start_ms
  }

  async #afterwards({ complaints }: Ended): Promise<void> {
    this.#server = null
    await this.db.close()
    this.#load?.stop.abort()
    await this.#load?.done
    this.#load = null
    for (const line of complaints) this.#fault(`the server says ${line}`)
    for (const sender of this.#senders) this.#parts.ledger.take(sender.batches)
  }
}
