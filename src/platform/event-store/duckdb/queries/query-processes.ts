// Questions of users: a few at a time, projects in turn, each in a process that does nothing else meanwhile.
import { StoreBusy, StoreGone, type StoreAnswer, type StoreQuery } from '../../event-store.ts'
import type { Manifest } from '../segments/manifest.ts'
import { Turns } from '../../../../lib/turns.ts'
import type { QueryOptions } from './messages.ts'
import { QueryProcess } from './query-process.ts'

const MAX_WAITING = 200
/** A question that ends its process by itself is not asked for ever. */
const MAX_TRIES = 3

export class QueryProcesses {
  readonly #processes: readonly QueryProcess[]
  readonly #turns: Turns<number, QueryProcess>
  #waiting = 0
  #underway = 0
  #is_closed = false

  constructor(options: QueryOptions, count: number) {
    this.#processes = Array.from({ length: count }, () => new QueryProcess(options))
    this.#turns = new Turns(this.#processes)
  }

  /** Nobody waits for an answer. */
  get isQuiet(): boolean {
    return this.#waiting + this.#underway === 0
  }

  /** The first question need not wait for a process to start. */
  warmUp(): void {
    this.#processes.at(-1)!.warmUp()
  }

  async query(query: StoreQuery, manifest: Manifest, signal?: AbortSignal): Promise<StoreAnswer> {
    const process = await this.#take(query.project_id, signal)
    this.#underway++
    try {
      for (let tries = 1; ; tries++) {
        if (this.#is_closed) throw new StoreGone('the event store is closed')
        try {
          return await process.query(query, manifest, signal)
        } catch (error) {
          // Somebody else killed the process: the question is as good as before.
          if (!(error instanceof StoreGone) || tries === MAX_TRIES) throw error
        }
      }
    } finally {
      this.#underway--
      this.#turns.giveBack(process)
    }
  }

  async close(): Promise<void> {
    this.#is_closed = true
    await Promise.all(this.#processes.map((process) => process.kill()))
  }

  async #take(project_id: number, signal?: AbortSignal): Promise<QueryProcess> {
    if (this.#waiting >= MAX_WAITING) throw new StoreBusy('too many queries are waiting')
    this.#waiting++
    try {
      return await this.#turns.take(project_id, signal)
    } finally {
      this.#waiting--
    }
  }
}
