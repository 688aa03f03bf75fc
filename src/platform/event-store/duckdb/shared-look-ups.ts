// Looks into the files of a project for events that are to be written. One at a time for each project: what comes meanwhile
// is looked for together, as most of the work is to read the files.
import type { LookedUp, StoredEvent } from '../event-store.ts'
import { encodeIds } from './journal/section.ts'
import type { StoreThreads, UpToDate } from './up-to-date.ts'

/** What several ask for is looked for together up to so many: the journal takes in what was found, and writes wait for that. */
const MOST_EVENTS = 5_000

type Asked = {
  events: readonly StoredEvent[]
  resolve(looked_up: LookedUp): void
  reject(error: unknown): void
}

export class SharedLookUps {
  readonly #threads: StoreThreads
  readonly #projects: UpToDate
  /** What comes next, for projects that are looked through now. */
  readonly #next = new Map<number, Asked[]>()

  constructor(threads: StoreThreads, projects: UpToDate) {
    this.#threads = threads
    this.#projects = projects
  }

  lookUp(project_id: number, events: readonly StoredEvent[]): Promise<LookedUp> {
    return new Promise((resolve, reject) => {
      const asked = { events, resolve, reject }
      const next = this.#next.get(project_id)
      if (next) next.push(asked)
      else void this.#work(project_id, asked)
    })
  }

  async #work(project_id: number, first: Asked): Promise<void> {
    const next = [first]
    this.#next.set(project_id, next)
    while (next.length > 0) {
      const some = takeSome(next)
      await this.#look(project_id, some).catch((error: unknown) => {
        for (const { reject } of some) reject(error)
      })
    }
    this.#next.delete(project_id)
  }

  async #look(project_id: number, asked: readonly Asked[]): Promise<void> {
    const { engine, journal } = this.#threads
    const look_up = await journal.call('beginLookUp', project_id)
    // Nobody waits for its end, and when the journal is gone it has ended.
    const end = () => void journal.call('endLookUp', project_id, look_up).catch(() => undefined)
    try {
      const events = asked.flatMap((each) => each.events)
      const places = await this.#projects.holding(project_id, () =>
        engine.call('findStored', project_id, encodeIds(events)),
      )
      const stored = new Set(places?.map((place) => events[place]!))
      const absentOf = (some: readonly StoredEvent[]) => some.filter((event) => !stored.has(event))
      await journal.call('foundAbsent', project_id, look_up, encodeIds(absentOf(events)))
      const open = new Set(asked)
      for (const each of asked) {
        const over = () => {
          if (open.delete(each) && open.size === 0) end()
        }
        each.resolve({ events: absentOf(each.events), end: over })
      }
    } catch (error) {
      end()
      throw error
    }
  }
}

/** At least one. */
function takeSome(next: Asked[]): Asked[] {
  let events = 0
  const end = next.findIndex((asked, index) => (events += asked.events.length) > MOST_EVENTS && index > 0)
  return next.splice(0, end === -1 ? next.length : end)
}
