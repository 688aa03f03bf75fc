// The apps of one thread: each is loaded and set up at its first use, given up when it is idle, and made anew after a
// fault.
import type { Limits } from '../limits.ts'
import { monotonicMs, toBytes, type ThreadApp, type Work } from '../messages.ts'
import { AppFault, type Offer } from '../sandbox.ts'
import { AppInstance } from './app-instance.ts'
import type { Surroundings } from './host-functions.ts'
import type { Engine } from './machine.ts'

type Place = { app: ThreadApp; ready: Promise<AppInstance> | null; used_at: number; under_way: number }

export class Apps {
  readonly #places = new Map<number, Place>()

  constructor(
    private readonly engine: Engine,
    private readonly limits: Limits,
    private readonly around: Surroundings,
  ) {}

  put(app: ThreadApp): void {
    const place = this.#places.get(app.id)
    if (place?.app.version === app.version) return
    if (place) void this.#giveUp(place)
    this.#places.set(app.id, { app, ready: null, used_at: monotonicMs(), under_way: 0 })
  }

  has(app_id: number, version: string): boolean {
    return this.#places.get(app_id)?.app.version === version
  }

  /** Throws AppFault. */
  async carryOut(app_id: number, work: Work): Promise<unknown> {
    const place = this.#places.get(app_id)!
    if (work.kind === 'measure') return (await place.ready?.catch(() => null))?.memory_bytes ?? null
    place.under_way++
    try {
      const instance = await this.#ready(place)
      if (work.kind === 'events') return await instance.processEvents(work.events, work.until)
      if (work.kind === 'call') return await instance.call(work.call)
      return undefined
    } finally {
      place.under_way--
      place.used_at = monotonicMs()
    }
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

  async disposeAll(): Promise<void> {
    await Promise.all([...this.#places.keys()].map((app_id) => this.dispose(app_id)))
  }

  async disposeIdle(): Promise<void> {
    const now = monotonicMs()
    for (const [app_id, place] of this.#places) {
      if (place.under_way > 0 || now - place.used_at < this.limits.idle_ms) continue
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

  async #giveUp(place: Place): Promise<void> {
    const instance = await place.ready?.catch(() => null)
    await instance?.tearDown()
    instance?.end(new AppFault('gone', 'the app was taken away'))
  }
}
