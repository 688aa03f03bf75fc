// Keeps the catalogue from the stream of events. Whoever stores events never waits for it and never fails by it: new
// names gather in memory and are written together a moment later. What is lost in a crash comes with the next such event,
// or is found when somebody asks (count.ts).
import { WriteLater } from '../../lib/write-later.ts'
import type { Services } from '../../platform/services.ts'
import { KnownDefinitions, type KnownProject } from './known.ts'
import { learn, readKnown } from './learn.ts'
import { addNews, noNews, type NamedEvent, type News } from './news.ts'

const DELAY_MS = 1_000
/** New names that wait, over all projects and of one; further ones are passed over until they come again. */
const MAX_WAITING = 200_000
const MAX_WAITING_OF_PROJECT = 20_000
/** Projects read and written together. */
const PROJECTS_PER_ROUND = 50

type Waiting = { news: News; names: number }

export type DefinitionStreamOptions = { delay_ms?: number; max_known?: number }

export class DefinitionStream {
  readonly #services: Pick<Services, 'db' | 'log' | 'now'>
  readonly #known: KnownDefinitions
  readonly #later: WriteLater
  readonly #stopListening: () => void
  #waiting = new Map<number, Waiting>()
  #waiting_names = 0
  /** Counts what was taken out of the catalogue: whatever was read before that is out of date. */
  #removals = 0

  constructor(
    services: Pick<Services, 'db' | 'log' | 'now' | 'changes'>,
    { delay_ms = DELAY_MS, max_known }: DefinitionStreamOptions = {},
  ) {
    this.#services = services
    this.#known = new KnownDefinitions(max_known)
    this.#later = new WriteLater({
      delay_ms,
      write: () => this.#write(),
      onFault: (error) => services.log.warn({ err: error }, 'definitions: new names wait to be written'),
    })
    this.#stopListening = services.changes.listen('definitions', (project_id) => {
      this.#removals++
      if (project_id === null) this.#known.clear()
      else this.#known.delete(project_id)
    })
  }

  /** Looks at an event that is being stored. */
  observe(project_id: number, event: NamedEvent): void {
    const known = this.#known.get(project_id)
    let waiting = this.#waiting.get(project_id)
    if (this.#waiting_names >= MAX_WAITING || (waiting?.names ?? 0) >= MAX_WAITING_OF_PROJECT) return
    waiting ??= { news: noNews(), names: 0 }
    const added = addNews(waiting.news, known, event, this.#services.now())
    if (added === 0) return
    waiting.names += added
    this.#waiting_names += added
    this.#waiting.set(project_id, waiting)
    this.#later.soon()
  }

  flush(): Promise<void> {
    return this.#later.now()
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#later.close()
  }

  async #write(): Promise<void> {
    const waiting = [...this.#waiting]
    this.#waiting = new Map()
    this.#waiting_names = 0
    for (let from = 0; from < waiting.length; from += PROJECTS_PER_ROUND) {
      try {
        await this.#learn(waiting.slice(from, from + PROJECTS_PER_ROUND))
      } catch (error) {
        this.#putBack(waiting.slice(from))
        throw error
      }
    }
  }

  async #learn(round: readonly [number, Waiting][]): Promise<void> {
    const { db, now } = this.#services
    const known = await this.#load(round.map(([project_id]) => project_id))
    const news = new Map(round.map(([project_id, waiting]) => [project_id, waiting.news]))
    await learn(db, news, known, now())
    for (const [project_id, project] of known) {
      // Unless it was let go meanwhile: then it is read again.
      if (this.#known.get(project_id) === project) this.#known.set(project_id, project)
    }
  }

  /** From memory where it is there. */
  async #load(projectIds: readonly number[]): Promise<Map<number, KnownProject>> {
    const at_hand = new Map<number, KnownProject>()
    for (const id of projectIds) {
      const project = this.#known.get(id)
      if (project) at_hand.set(id, project)
    }
    const removals = this.#removals
    const read = await readKnown(
      this.#services.db,
      projectIds.filter((id) => !at_hand.has(id)),
    )
    if (removals === this.#removals) for (const [id, project] of read) this.#known.set(id, project)
    return new Map([...at_hand, ...read])
  }

  /** What came meanwhile goes first: it is the newer of the two, and there is room for only so much. */
  #putBack(unwritten: readonly [number, Waiting][]): void {
    for (const [project_id, waiting] of unwritten) {
      if (this.#waiting.has(project_id) || this.#waiting_names + waiting.names > MAX_WAITING) continue
      this.#waiting.set(project_id, waiting)
      this.#waiting_names += waiting.names
    }
  }
}
