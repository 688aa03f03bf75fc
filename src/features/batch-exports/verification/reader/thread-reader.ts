// The thread that reads destinations back, as the main thread sees it. Started with the first call.
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../../platform/threads.ts'
import type { PlaceReader, ReaderOptions } from './destination-reader.ts'
import type { Answer, Call, CallName } from './messages.ts'
import { OutOfReach } from './out-of-reach.ts'

/**
 * A thread that needs more is ended, and with it the verification, rather than the server. It uses a few megabytes. With a
 * limit of half as much V8 looks through all of them for every 20 MB that come out of a gzip file: twice the CPU.
 */
const MAX_HEAP_MB = 2_048
const CLOSE_MS = 5_000

type Pending = { resolve(result: unknown): void; reject(error: Error): void }

export class ThreadReader implements PlaceReader {
  readonly #options: ReaderOptions
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | null = null
  #last_id = 0

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  open = this.#caller('open')
  readFile = this.#caller('readFile')
  listMore = this.#caller('listMore')
  sumUuids = this.#caller('sumUuids')
  listHours = this.#caller('listHours')
  digest = this.#caller('digest')
  passOverUnowned = this.#caller('passOverUnowned')
  expect = this.#caller('expect')
  totals = this.#caller('totals')
  fetchDiffering = this.#caller('fetchDiffering')
  setAside = this.#caller('setAside')
  compare = this.#caller('compare')

  /** Whatever is under way ends with it; the next call starts another thread. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const late = setTimeout(() => void worker.terminate(), this.#pending.size > 0 ? 0 : CLOSE_MS)
    await this.#call('close', []).catch(() => undefined)
    clearTimeout(late)
    await worker.terminate()
  }

  #caller<Name extends CallName>(name: Name): PlaceReader[Name] {
    return ((...args: readonly unknown[]) => this.#call(name, args)) as PlaceReader[Name]
  }

  #call(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const worker = (this.#worker ??= this.#start())
    return new Promise((resolve, reject) => {
      const id = ++this.#last_id
      this.#pending.set(id, { resolve, reject })
      worker.postMessage({ id, name, args } satisfies Call)
    })
  }

  #start(): Worker {
    const worker = startThread('read-destinations', this.#options, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    worker.on('message', (answer: Answer) => this.#settle(answer))
    const end = (error: Error) => {
      if (this.#worker === worker) this.#worker = null
      for (const { reject } of this.#pending.values()) reject(error)
      this.#pending.clear()
    }
    worker.on('error', end)
    worker.on('exit', () => end(new Error('the thread that reads destinations has ended')))
    return worker
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (!pending) return
    if ('out_of_reach' in answer) pending.reject(new OutOfReach(answer.out_of_reach))
    else if ('fault' in answer) pending.reject(new Error(answer.fault))
    else pending.resolve(answer.result)
  }
}
