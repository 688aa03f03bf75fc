// Rounds of load, kill, start and look. What is killed, and when, comes from the seed.
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, type Database } from '../../src/platform/db/database.ts'
import {
  connectionOf,
  postmasterOf,
  type Env,
  type Program,
  type Running,
} from '../../test/end-to-end/program.ts'
import { startSmtpServer, type SmtpStandIn } from '../../test/stand-ins/smtp.ts'
import { Client } from './client.ts'
import { closeChanges, type Closed } from './closing.ts'
import { checkInvariants, readEntries, waitForOldSessions } from './invariants.ts'
import { keysOf, Tally, type Change, type Entry, type Organization } from './ledger.ts'
import { Random } from './random.ts'
import { checkOrganization } from './state.ts'
import { makeWorld } from './world.ts'

export type Round = Closed & {
  round: number
  killed: 'server' | 'server and PostgreSQL' | 'PostgreSQL'
  /** How long the load ran before. */
  after_ms: number
  /** Kills during the starts that followed. */
  killed_starts: number
  /** From the last start to its first answer. */
  start_ms: number
  faults: string[]
}

// Making the data folder, the tables and the first owner must survive it too.
const KILLED_FIRST_STARTS = 3
const TRIES = 10

export type CrashOptions = { program: Program; rounds: number; seed: number; onRound?(round: Round): void }

export async function runCrashes({ program, rounds, seed, onRound }: CrashOptions): Promise<Round[]> {
  const smtp = await startSmtpServer()
  const stage = new Stage(program, new Random(seed), {
    DATA_DIR: program.newDataDir(),
    SMTP_URL: smtp.url,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
  })
  const done: Round[] = []
  try {
    await stage.start(KILLED_FIRST_STARTS)
    await stage.fill()
    for (let round = 1; round <= rounds; round++) {
      const isLast = round === rounds
      const result = await stage.play(round, smtp, isLast)
      if (isLast) result.faults.push(...(await stage.stop()))
      done.push(result)
      onRound?.(result)
    }
  } finally {
    await stage.close()
    await smtp.close()
  }
  return done
}

/** The server under test with its database, and the clients. */
class Stage {
  readonly #program: Program
  /** Decides what is killed when, and nothing else, so that a seed gives the same plan however fast the machine is. */
  readonly #plan: Random
  readonly #random: Random
  readonly #env: Env
  readonly #db: Database
  #server: Running | null = null
  #url = ''
  #clients: Client[] = []
  #shared: Organization | null = null
  #faults: string[] = []
  readonly #tally = new Tally()
  /** Entries that were looked at. */
  readonly #seen = new Set<string>()

  constructor(program: Program, random: Random, env: Env) {
    this.#program = program
    this.#plan = random.fork()
    this.#random = random
    this.#env = env
    this.#db = openDatabase({ ...connectionOf(env.DATA_DIR!), max: 2, idleTimeoutMillis: 1 })
  }

  readonly #fault = (text: string) => void this.#faults.push(text)

  /** Killed at some moment, so many times, before it may come up. Gives the time of the last start. */
  async start(kills: number): Promise<number> {
    for (let number = 0; number < kills; number++) {
      const victim = this.#program.serve(this.#env)
      await Promise.race([sleep(this.#plan.below(1500)), victim.url.catch(() => undefined)])
      victim.kill('SIGKILL')
      await victim.ended
    }
    const began = Date.now()
    this.#server = this.#program.serve(this.#env)
    this.#url = await this.#server.url
    for (const client of this.#clients) client.url = this.#url
    return Date.now() - began
  }

  async fill(): Promise<void> {
    const { participants, shared } = await makeWorld(this.#db)
    this.#shared = shared
    this.#clients = participants.map((one) => new Client(one, shared, this.#random.fork(), this.#fault))
    for (const client of this.#clients) client.url = this.#url
    for (const entry of await readEntries(this.#db)) this.#seen.add(entry.position)
  }

  async play(round: number, smtp: SmtpStandIn, isLast: boolean): Promise<Round> {
    this.#faults = []
    const killed = this.#plan.pick(['server', 'server', 'server and PostgreSQL', 'PostgreSQL'] as const)
    const after_ms = 100 + this.#plan.below(1400)
    const killed_starts = killed === 'PostgreSQL' || this.#plan.chance(70) ? 0 : 1 + this.#plan.below(2)
    await this.#loadAndKill(killed, after_ms)
    const fell = new Date()
    const start_ms = killed === 'PostgreSQL' ? await this.#untilReady() : await this.start(killed_starts)
    if (killed !== 'PostgreSQL') await waitForOldSessions(this.#db, fell)
    const { changes, ...closed } = await closeChanges(this.#clients, {
      readEntries: () => readEntries(this.#db),
      tally: this.#tally,
      random: this.#random,
      fault: this.#fault,
    })
    await this.#check(changes, smtp, isLast)
    return { round, killed, after_ms, killed_starts, start_ms, ...closed, faults: this.#faults }
  }

  async #loadAndKill(killed: Round['killed'], after_ms: number): Promise<void> {
    const stop = new AbortController()
    const load = Promise.all(this.#clients.map((client) => client.work(stop.signal)))
    await sleep(after_ms)
    const postmaster = await postmasterOf(this.#env.DATA_DIR!)
    if (killed !== 'server') process.kill(postmaster!, 'SIGKILL')
    if (killed !== 'PostgreSQL') {
      this.#server!.kill('SIGKILL')
      await this.#server!.ended
    }
    stop.abort()
    await load
  }

  /** The server has to bring PostgreSQL back by itself, and to live through its absence. */
  async #untilReady(): Promise<number> {
    const began = Date.now()
    const fallen = this.#server!.ended.then((ended) => ended.stderr)
    for (const end = began + 30_000; Date.now() < end; await sleep(20)) {
      const state = await Promise.race([fetch(`${this.#url}/_readyz`).catch(() => null), fallen])
      if (typeof state === 'string') {
        this.#fault(`the server fell together with PostgreSQL: ${state}`)
        return await this.start(0)
      }
      await state?.text()
      if (state?.ok) return Date.now() - began
    }
    throw new Error('the server does not get its database back')
  }

  async #check(changes: readonly Change[], smtp: SmtpStandIn, isLast: boolean): Promise<void> {
    const entries = await readEntries(this.#db)
    this.#checkEntries(entries)
    await checkInvariants(this.#db, this.#fault)
    const touched = new Set(changes.map((change) => change.organization))
    for (const { participant, own } of this.#clients) {
      const known = [participant.home, ...own, ...[...touched].filter((one) => one?.is_deleted)]
      for (const organization of known) {
        if (organization && (isLast || touched.has(organization))) {
          await checkOrganization(this.#ask, participant.key, organization, this.#fault)
        }
      }
    }
    await checkOrganization(this.#ask, this.#clients[0]!.participant.key, this.#shared!, this.#fault)
    const invited = new Set(
      entries.filter((one) => one.scope === 'OrganizationInvite').map((one) => one.detail.name),
    )
    for (const mail of smtp.mails.splice(0)) {
      for (const address of mail.recipients) {
        if (mail.subject.includes('invited') && !invited.has(address))
          this.#fault(`a mail to ${address}, whom nobody invited`)
      }
    }
  }

  /** Every new entry belongs to a change that was asked for and happened, or comes along with one. */
  #checkEntries(entries: readonly Entry[]): void {
    for (const entry of entries.filter((one) => !this.#seen.has(one.position))) {
      this.#seen.add(entry.position)
      const { scope, activity, detail } = entry
      const comesAlong =
        activity === 'created' && (scope === 'OrganizationMembership' || detail.name === 'Default project')
      if (!comesAlong && !keysOf(entry).some((key) => this.#tally.of(key) > 0)) {
        this.#fault(`an entry nobody asked for: ${scope} ${activity} ${detail.name}`)
      }
    }
  }

  readonly #ask = async (path: string, key: string) => {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.#url}${path}`, { headers: { authorization: `Bearer ${key}` } })
      const body = (await response.json()) as Record<string, unknown>
      // As every client should: a connection to the old PostgreSQL may still have been in the pool.
      if (response.status !== 503 || tries === TRIES) return { status: response.status, body }
      await sleep(100)
    }
  }

  /** In order, for once. */
  async stop(): Promise<string[]> {
    this.#server!.kill('SIGTERM')
    const { code, stderr } = await this.#server!.ended
    return code === 0 ? [] : [`the ordered stop at the end gave exit code ${code}: ${stderr}`]
  }

  close(): Promise<void> {
    return this.#db.close()
  }
}
