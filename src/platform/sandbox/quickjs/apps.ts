// The apps of one thread: each is loaded and set up at its first use, given up when it is idle, and made anew after a
// fault.
import type { Limits } from '../limits.ts'
import { monotonicMs, toBytes, type ThreadApp, type Work } from '../messages.ts'
import { AppFault, type Offer } from '../sandbox.ts'
import { AppInstance } from './app-instance.ts'
import type { Surroundings } from './host-functions.ts'
import type { Engine } from './machine.ts'

type Place = {
  app: ThreadApp
  ready: Promise<AppInstance> | null
  used_at: number
  under_way: Set<Promise<unknown>>
}

export class Apps {
  readonly #places = new Map<number, Place>()
  /** Those that are being given up. */
  readonly #leaving = new Set<Promise<void>>()
  /** End the wait for what is under way in them. */
  readonly #cuts = new Set<() => void>()

  constructor(
    private readonly engine: Engine,
    private readonly limits: Limits,
    private readonly around: Surroundings,
  ) {}

  put(app: ThreadApp): void {
    const place = this.#places.get(app.id)
    if (place?.app.version === app.version) return
    if (place) void this.#giveUp(place)
    this.#places.set(app.id, { app, ready: null, used_at: monotonicMs(), under_way: new Set() })
  }

  has(app_id: number, version: string): boolean {
    return this.#places.get(app_id)?.app.version === version
  }

  /** Throws AppFault. */
  async carryOut(app_id: number, work: Work): Promise<unknown> {
    const place = this.#places.get(app_id)!
    if (work.kind === 'measure') return (await place.ready?.catch(() => null))?.memory_bytes ?? null
    const done = this.#work(place, work)
    place.under_way.add(done)
    try {
      return await done
    } finally {
      place.under_way.delete(done)
      place.used_at = monotonicMs()
    }
  }

  async #work(place: Place, work: Exclude<Work, { kind: 'measure' }>): Promise<unknown> {
    const instance = await this.#ready(place)
    if (work.kind === 'events') return await instance.processEvents(work.events, work.until)
    return work.kind === 'call' ? await instance.call(work.call) : undefined
  }

  async inspect(id: number, code: string, mappings: string | null): Promise<Offer> {
    const nobodys = { version: '', tenant: null, group: '', name: '', config: {}, attachments: {} }
    const app = { ...nobodys, id, ...toBytes({ code, mappings }) }
    const instance = await AppInstance.load(app, this.engine, this.limits, this.around, 'inspect')
    instance.end(new AppFault('gone', 'it was only looked at'))
    return instance.offer
  }

  async dispose(app_id: number): Promise<void> {
    const place = this.#places.get(app_id)
    this.#places.delete(app_id)
    if (place) await this.#giveUp(place)
  }

  /** Nobody waits for what is under way. */
  async disposeAll(): Promise<void> {
    const all = [...this.#places.keys()].map((app_id) => this.dispose(app_id))
    for (const cut of this.#cuts) cut()
    await Promise.all([...all, ...this.#leaving])
  }

  async disposeIdle(): Promise<void> {
    const now = monotonicMs()
    for (const [app_id, place] of this.#places) {
      if (place.under_way.size > 0 || now - place.used_at < this.limits.idle_ms) continue
      const instance = await place.ready?.catch(() => null)
      if (!instance?.alarms.size) await this.dispose(app_id)
    }
  }

  #ready(place: Place): Promise<AppInstance> {
    place.ready ??= this.#load(place).catch((error: unknown) => {
      place.ready = null
      throw error
    })
    return place.ready
  }

  async #load(place: Place): Promise<AppInstance> {
    const instance = await AppInstance.load(place.app, this.engine, this.limits, this.around, 'run')
    instance.onEnded = () => {
      place.ready = null
    }
    await instance.setUp()
    return instance
  }

  #giveUp(place: Place): Promise<void> {
    const done = this.#end(place).finally(() => this.#leaving.delete(done))
    this.#leaving.add(done)
    return done
  }

  async #end(place: Place): Promise<void> {
    if (place.under_way.size > 0) await this.#workDone(place)
    const instance = await place.ready?.catch(() => null)
    await instance?.tearDown()
    instance?.end(new AppFault('gone', 'the app was taken away'))
  }

  /** An edit must not cost the events their app has begun with: they have the time that any call has. */
  async #workDone({ under_way }: Place): Promise<void> {
    let cut = () => {}
    const wasCut = new Promise<void>((resolve) => (cut = resolve))
    const timer = setTimeout(cut, this.limits.call_wall_ms)
    this.#cuts.add(cut)
    await Promise.race([Promise.allSettled(under_way), wasCut])
    this.#cuts.delete(cut)
    clearTimeout(timer)
  }
}
