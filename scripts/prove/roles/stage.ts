// Everything that the rounds need: the processes, the stores they share, senders, places, and what is known of all events.
import { setMaxListeners } from 'node:events'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '../../../src/app/roles.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { Env, Program } from '../../../test/end-to-end/program.ts'
import { Sender } from '../../crash/events/sender.ts'
import { KEY } from '../../crash/first-project.ts'
import type { Random } from '../../crash/random.ts'
import { Accounts } from '../crash/accounts.ts'
import { makeExports, runNow, type MadeExport } from '../crash/api.ts'
import { Deliveries, expectPromised, lookAtEnded } from '../crash/deliveries.ts'
import { Ledger } from '../crash/ledger.ts'
import { openPlaces, REACH, type Places } from '../crash/places.ts'
import { waitUntilSettled } from '../crash/runs.ts'
import { installApp, startReceiver, type Receiver } from './app.ts'
import { listIntrusions, watchLeases } from './lease-watch.ts'
import { Member } from './member.ts'
import { SeenEvents, STORE } from './seen-events.ts'
import { openStores, type Stores } from './stores.ts'

const COUNTS: readonly (readonly [Role, number])[] = [
  ['api', 2],
  ['capture', 3],
  ['worker', 3],
  ['plugins', 1],
]
const SENDERS = 3
const SENDER_PAUSE_MS = 300
/** A capture process that stands still is left alone, and another one asked. */
const ANSWER_LIMIT_MS = 15_000
const LOOK_EVERY_MS = 500
const ASK_AGAIN_MS = 1_000
/** A store that was away is there again by then, and runs that were behind have caught up. */
const MOST_TRIES = 120

type Load = { stop: AbortController; done: Promise<unknown> }

export class Stage {
  readonly faults: string[]
  readonly members: readonly Member[]
  readonly stores: Stores
  readonly places: Places
  readonly ledger: Ledger
  readonly seen: SeenEvents
  readonly receiver: Receiver
  readonly #deliveries: Deliveries
  readonly #accounts: Accounts
  readonly #exports: readonly MadeExport[]
  readonly #senders: readonly Sender[]
  readonly #known_runs = new Set<string>()
  #load: Load | null = null
  #watching: Load

  private constructor(parts: {
    faults: string[]
    members: readonly Member[]
    stores: Stores
    places: Places
    ledger: Ledger
    seen: SeenEvents
    receiver: Receiver
    exports: readonly MadeExport[]
    senders: readonly Sender[]
  }) {
    const fault = (text: string) => void parts.faults.push(text)
    this.faults = parts.faults
    this.members = parts.members
    this.stores = parts.stores
    this.places = parts.places
    this.ledger = parts.ledger
    this.seen = parts.seen
    this.receiver = parts.receiver
    this.#exports = parts.exports
    this.#senders = parts.senders
    this.#deliveries = new Deliveries(parts.places, parts.ledger, fault)
    this.#accounts = new Accounts(fault)
    this.#watching = keepDoing((stop) => this.#watch(stop))
  }

  static async open(program: Program, random: Random): Promise<Stage> {
    const faults: string[] = []
    const fault = (text: string) => void faults.push(text)
    const EXPORT_DIR = program.newDataDir()
    const stores = await openStores(program.newDataDir())
    const places = await openPlaces(EXPORT_DIR)
    const receiver = await startReceiver()
    const env = {
      EXPORT_DIR,
      SECRET_KEY: randomBytes(32).toString('hex'),
      SITE_URL: 'http://longshore.test',
      BOOTSTRAP_API_KEY: KEY,
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      ...REACH,
    }
    const members = await makeMembers(program, env, stores, fault)
    // All at once: tables are made by one of them, and the others wait.
    await Promise.all(members.map((member) => member.start()))
    await watchLeases(stores.db)
    const api = members.find(({ role }) => role === 'api')!
    const planned = places.exports.filter(({ paused }) => !paused)
    const exports = await makeExports(api.url, planned)
    await installApp(api.url, receiver.url)
    const { id, api_token } = await stores.db.only<{ id: number; api_token: string }>(
      sql`SELECT id, api_token FROM project`,
    )
    const senders = Array.from({ length: SENDERS }, (_, index) => {
      const sender = new Sender(`sender-${index}`, api_token, random.fork(), fault)
      sender.answer_limit_ms = ANSWER_LIMIT_MS
      return sender
    })
    const ledger = new Ledger(fault)
    const seen = new SeenEvents(stores, id, random.fork(), fault)
    return new Stage({ faults, members, stores, places, ledger, seen, receiver, exports, senders })
  }

  takeFaults(): string[] {
    return this.faults.splice(0)
  }

  get env(): Env {
    return this.members.find(({ role }) => role === 'worker')!.env
  }

  letEventsIn(): void {
    const captures = this.members.filter(({ role }) => role === 'capture')
    let next = 0
    const nextUrl = () => captures[next++ % captures.length]!.url
    this.#load = keepDoing((stop) =>
      Promise.all(this.#senders.map((sender) => sender.persist(stop, nextUrl, SENDER_PAUSE_MS))),
    )
  }

  /** Everything that is due by now; nothing where the processes that were asked are away. */
  async askForRuns(): Promise<void> {
    for (const made of this.#exports) await runNow(this.#api(), made).catch(() => undefined)
  }

  /** All processes and stores are whole: what was acknowledged is where it belongs, once. */
  async settle(): Promise<void> {
    const { db } = this.stores
    await end(this.#load)
    this.#load = null
    for (const { batches } of this.#senders) this.ledger.take(batches)
    await insist(() => this.seen.look())
    await this.seen.countInto(this.ledger)
    this.ledger.expectPromised(STORE)
    const missing = await this.receiver.missing(this.ledger.promised)
    if (missing > 0) this.faults.push(`${missing} acknowledged events were not handed to the app`)
    for (const made of this.#exports) await insist(() => runNow(this.#api(), made))
    const stuck = await waitUntilSettled(db, () => new Date())
    if (stuck !== null) this.faults.push(`stuck: ${stuck}`)
    const { places, ledger } = this
    await lookAtEnded({ db, known: this.#known_runs, exports: this.#exports, deliveries: this.#deliveries })
    await expectPromised(places, this.#exports, ledger, (text) => void this.faults.push(text))
    for (const made of this.#exports) {
      await insist(() => this.#accounts.check(this.#api(), made, false))
    }
    this.#accounts.compare(this.#exports, ledger)
    this.faults.push(...(await listIntrusions(db)))
  }

  async close(): Promise<void> {
    await end(this.#load)
    await end(this.#watching)
    for (const member of this.members) member.goOn()
    await Promise.all(this.members.map((member) => member.stop()))
    await this.receiver.close()
    await this.places.close()
    await this.stores.close()
  }

  get exports(): readonly MadeExport[] {
    return this.#exports
  }

  /** One that is whole, if there is any. */
  #api(): string {
    const apis = this.members.filter(({ role }) => role === 'api')
    return (apis.find(({ isWhole }) => isWhole) ?? apis[0]!).url
  }

  async #watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      // While PostgreSQL is away nothing can be seen.
      await this.seen.look().catch(() => undefined)
      await sleep(LOOK_EVERY_MS)
    }
  }
}

async function makeMembers(
  program: Program,
  env: Env,
  stores: Stores,
  fault: (text: string) => void,
): Promise<Member[]> {
  const named = COUNTS.flatMap(([role, count]) =>
    Array.from({ length: count }, (_, index) => ({ role, name: `${role}-${index + 1}` })),
  )
  return await Promise.all(
    named.map(({ role, name }) =>
      Member.make(name, role, { ...env, ...stores.settingsOf(name) }, program, fault),
    ),
  )
}

/** Until it works; throws when it never does. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === MOST_TRIES) throw error
      await sleep(ASK_AGAIN_MS)
    }
  }
}

function keepDoing(work: (stop: AbortSignal) => Promise<unknown>): Load {
  const stop = new AbortController()
  // Each request listens to it until its answer is collected as garbage.
  setMaxListeners(0, stop.signal)
  return { stop, done: work(stop.signal) }
}

async function end(load: Load | null): Promise<void> {
  load?.stop.abort()
  await load?.done
}
