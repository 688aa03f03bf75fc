// Processes of the simulation: workers, which are the real clockwork of exports moved by hand, and people at the API.
import { ExportEngine } from '../../src/features/batch-exports/engine/engine.ts'
import { Changes } from '../../src/platform/changes.ts'
import { Intake } from '../../src/platform/intake.ts'
import { StoreBusy, type EventStore } from '../../src/platform/event-store/event-store.ts'
import { Guesses } from '../../src/platform/http/guesses.ts'
import { SharedLooks } from '../../src/platform/http/live/shared-looks.ts'
import { PagePlaces } from '../../src/platform/http/page-places.ts'
import { Throttle } from '../../src/platform/http/throttle.ts'
import type { Log } from '../../src/platform/log/log.ts'
import { openMailer } from '../../src/platform/mail/mail.ts'
import type { Services } from '../../src/platform/services.ts'
import { ConnectionLost } from './faults.ts'
import { gatedDatabase } from './gated-database.ts'
import { Reach } from './reach.ts'
import { Crashed, Deadlock, type Actor } from './turnstile.ts'
import type { World } from './world.ts'

export class Worker {
  readonly actor: Actor
  readonly engine: ExportEngine
  readonly services: Services
  #is_ticking = false
  #is_beating = false

  constructor(
    private readonly world: World,
    name: string,
  ) {
    this.actor = world.newActor('worker', name)
    this.services = servicesOf(world, this.actor)
    this.engine = new ExportEngine(this.services)
  }

  /** Begins one unless one is under way, as the timers of the real one do. */
  tick(): void {
    if (this.#is_ticking) return
    this.#is_ticking = true
    void this.#quietly(this.engine.tick()).finally(() => (this.#is_ticking = false))
  }

  beat(): void {
    if (this.#is_beating) return
    this.#is_beating = true
    void this.#quietly(this.engine.beat()).finally(() => (this.#is_beating = false))
  }

  async #quietly(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!isMeant(error)) this.world.wrong(`${this.actor.name} fell: ${describe(error)}`)
    })
  }
}

/** What the simulation itself has done, or has let happen. */
export function isMeant(error: unknown): boolean {
  return [Crashed, ConnectionLost, Deadlock].some((kind) => error instanceof kind)
}

export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

export function servicesOf(world: World, actor: Actor): Services {
  const { turnstile, places, proof, clock, mutation, tally } = world
  const rewrite = mutation.rewrite ?? ((statement) => statement)
  const onShow: World['assertCommitting'] = (run) => world.assertCommitting(run)
  return {
    db: gatedDatabase(proof.db, {
      turnstile,
      actor,
      rewrite,
      onFenced: () => tally.add('zombies turned away'),
    }),
    eventStore: gatedStore(world, actor),
    secrets: proof.secrets,
    jobs: noJobs,
    intake: new Intake(),
    mailer: openMailer({ smtp_url: null, from: 'proof@localhost' }),
    lookupTxt: () => Promise.reject(new Error('no names are looked up here')),
    outbound: new Reach({ turnstile, places, onShow }, actor),
    sandbox: noSandbox,
    changes: new Changes(),
    pagePlaces: new PagePlaces(),
    looks: new SharedLooks(logOf(world, actor)),
    throttle: new Throttle(false),
    guesses: new Guesses(proof.db, proof.secrets, false),
    log: logOf(world, actor),
    settings,
    instance: new Map(),
    now: () => clock.now(),
  }
}

function gatedStore({ store, turnstile }: World, actor: Actor): EventStore {
  const pass = <T>(label: string, work: () => Promise<T>, signal?: AbortSignal) =>
    turnstile.pass({ actor, place: 'store', label }, async () => {
      signal?.throwIfAborted()
      return work()
    })
  const notHere = () => Promise.reject(new Error('not part of the simulation'))
  return {
    engine: store.engine,
    is_shared: true,
    positionAt: (id, time) => pass(`position at ${time.toISOString()}`, () => store.positionAt(id, time)),
    lastPosition: () => pass('last position', () => store.lastPosition()),
    measureAreas: (events, areas, signal) =>
      pass(`measure ${areas.length} areas`, () => store.measureAreas(events, areas), signal),
    holes: () => pass('holes', () => store.holes()),
    arrivalsOf: (_id, positions) => pass('arrivals', () => store.arrivalsOf(positions)),
    countBlocks: (rows, size, signal) => pass('count', () => store.countBlocks(rows, size), signal),
    cutRows: (rows, range, most, signal) => pass('cut', () => store.cutRows(rows, range, most), signal),
    cutForParquet: async (_rows, block) => [block],
    exportRows: (rows, range, _format, signal) =>
      pass(`export (${range.from}, ${range.to}]`, () => store.exportRows(rows, range), signal),
    findCutTexts: () => pass('cut texts', () => store.findCutTexts()),
    write: notHere,
    lookUp: notHere,
    lastRows: notHere,
    query: notHere,
    ping: notHere,
    oweCopies: notHere,
    missingCopies: notHere,
    giveUpCopies: notHere,
    caughtUp: notHere,
    deleteProject: notHere,
    close: async () => {},
  }
}

/** An error that nobody has foreseen is a fault of the engine, unless the simulation has made it. */
function logOf(world: World, actor: Actor): Log {
  const error = ({ err }: { err: unknown }, text: string) => {
    if (!isMeant(err) && !(err instanceof StoreBusy)) world.wrong(`${actor.name}: ${text}: ${describe(err)}`)
  }
  const silent = () => undefined
  return { error, warn: silent, info: silent, debug: silent } as unknown as Log
}

const noJobs: Services['jobs'] = {
  enqueue: () => Promise.reject(new Error('nothing is enqueued here')),
  work: async () => {},
  countWaiting: async () => ({}),
  countFailed: async () => ({}),
  stop: async () => {},
}

const noSandbox: Services['sandbox'] = {
  inspect: noApps,
  processEvents: noApps,
  call: noApps,
  prepare: noApps,
  measure: noApps,
  dispose: noApps,
  close: async () => {},
}

function noApps(): Promise<never> {
  return Promise.reject(new Error('no apps run here'))
}

const settings: Services['settings'] = {
  site_url: '',
  is_signup_open: false,
  key_limits_percent: 100,
  max_keys_per_user: 0,
  domain_challenge_prefix: '',
  disabled_destinations: [],
  sub_hourly_exports: true,
  export_max_runs: 8,
  lock_timeout_ms: 0,
  export_folder: '',
  scratch_folder: '',
  outbound_allow: [],
  allow_plaintext: true,
  plugins_folder: null,
  plugins_min_write_level: 1,
  plugin_hold_bytes: 0,
  plugin_patience_ms: 0,
  plugins_repository_url: null,
  plugin_source_tokens: { github: null, gitlab: null, npm: null },
  social_sign_in: { 'google-oauth2': null, github: null, gitlab: null },
}
