// Each project has a head: the number of the last state that its persons, distinct ids and groups came to, whichever process
// brought them there. A flush that changes something takes the heads first, and so knows that nobody else is about to.
import type { Db } from '../../platform/db/database.ts'
import { takeHeads } from './head-queries.ts'

/** Another process has changed something meanwhile, and nothing is written yet: begin again, with the heads taken first. */
export class Overtaken extends Error {}

/** What one flush may write. Its heads are held until the transaction ends. */
export class HeadLock {
  readonly #tx: Db
  readonly #projects: readonly number[]
  readonly #seen: ReadonlyMap<number, bigint>
  #taken: ReadonlyMap<number, bigint> | null = null

  /** `seen` tells for each of the projects up to which change the memory is right. */
  constructor(tx: Db, projects: readonly number[], seen: ReadonlyMap<number, bigint>) {
    this.#tx = tx
    this.#projects = projects
    this.#seen = seen
  }

  /** The new heads, by project. */
  get taken(): ReadonlyMap<number, bigint> {
    return this.#taken ?? new Map()
  }

  /** Before anything is read: gives the states that the projects are in. */
  async takeFirst(): Promise<Map<number, bigint>> {
    const heads = await this.#take(this.#projects)
    return new Map(heads.map(({ project_id, before }) => [project_id, before]))
  }

  /**
   * Before the first write; later calls do nothing. Without a list all projects of the flush are meant: whoever writes more than
   * once cannot take further ones later, or two flushes could wait for each other. Throws Overtaken.
   */
  async take(projects: Iterable<number> = this.#projects): Promise<void> {
    if (this.#taken) return
    const heads = await this.#take([...projects])
    if (heads.some(({ project_id, before }) => before > this.#seen.get(project_id)!)) throw new Overtaken()
  }

  async #take(projects: readonly number[]) {
    const heads = await takeHeads(this.#tx, projects)
    this.#taken = new Map(heads.map(({ project_id, change }) => [project_id, change]))
    return heads
  }
}
