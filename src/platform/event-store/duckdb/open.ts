// The event store in DuckDB, as the rest of the program sees it: calls that are carried out by a thread of its own.
import { availableParallelism } from 'node:os'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../threads.ts'
import { StoreGone, type EventStore } from '../event-store.ts'
import { toColumns } from './columns.ts'
import { restoreFault, type Abort, type Answer, type Calls, type ThreadOptions } from './messages.ts'

export type DuckDbOptions = {
  folder: string
  memory_mb: number
  query_timeout_ms: number
  /** The thread fell: nothing can be stored or asked any more. */
  onLost?(error: Error): void
}

// DuckDB keeps other processes out, but opens the same file twice in one process, where neither sees the other's rows.
const openFolders = new Set<string>()

export async function openDuckDb({ onLost, ...options }: DuckDbOptions): Promise<EventStore> {
  const folder = resolve(options.folder)
  if (openFolders.has(folder)) throw new Error('the event store is open in this process already')
  openFolders.add(folder)
  try {
    const cores = availableParallelism()
    const data: ThreadOptions = { ...options, folder, threads: cores, readers: Math.max(2, cores) }
    const thread = new StoreThread(startThread('event-store', data))
    await thread.ready
    thread.onLost = onLost
    return storeOf(thread, () => openFolders.delete(folder))
  } catch (error) {
    openFolders.delete(folder)
    throw error
  }
}

function storeOf(thread: StoreThread, onClosed: () => void): EventStore {
  return {
    engine: 'duckdb',
    write: (writes, now, copies_position = null) =>
      thread.call('write', writes.map(toColumns), micros(now), copies_position),
    async query(query) {
      const { columns, rows, rest } = await thread.call('query', query)
      if (rest === null) return { columns, rows }
      const all = [...rows]
      for (let next: number | null = rest; next !== null;) {
        await nextTurn()
        const part: Awaited<ReturnType<typeof thread.call<'more'>>> = await thread.call('more', next)
        for (const row of part.rows) all.push(row)
        next = part.rest
      }
      return { columns, rows: all }
    },
    positionAt: (project_id, time) => thread.call('positionAt', project_id, micros(time)),
    lastPosition: (project_id) => thread.call('lastPosition', project_id),
    arrivalsOf: (project_id, positions) => thread.call('arrivalsOf', project_id, positions),
    measureAreas: (events, areas, signal) => thread.callUntil(signal, 'measureAreas', events, areas),
    countBlocks: (rows, block_size, signal) => thread.callUntil(signal, 'countBlocks', rows, block_size),
    cutRows: (rows, range, limit, signal) => thread.callUntil(signal, 'cutRows', rows, range, limit),
    async exportRows(rows, range, format, signal) {
      const file = await thread.callUntil(signal, 'exportRows', rows, range, format)
      // It was written before the thread learned that nobody wants it.
      if (signal.aborted) await rm(file.path, { force: true })
      signal.throwIfAborted()
      return file
    },
    findCutTexts: (rows) => thread.call('findCutTexts', rows),
    copiesPosition: () => thread.call('copiesPosition'),
    deleteProject: (project_id) => thread.call('deleteProject', project_id),
    async close() {
      await thread.close()
      onClosed()
    },
  }
}

const micros = (time: Date) => BigInt(time.getTime()) * 1000n

type Pending = { resolve(result: unknown): void; reject(error: Error): void }

class StoreThread {
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  readonly #ended: Promise<void>
  #last_id = 0
  /** Set once the thread is gone: nothing more can be asked. */
  #gone: Error | null = null
  #is_closing = false
  onLost: ((error: Error) => void) | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    this.ready = new Promise((resolve, reject) => {
      worker.on('message', (answer: Answer) => {
        if (!('ready' in answer)) this.#settle(answer)
        else if (answer.failure === undefined) resolve()
        else reject(restoreFault(answer.failure))
      })
      worker.on('error', reject)
    })
    this.#ended = new Promise((resolve) => {
      const end = (error: Error) => {
        if (this.#gone) return
        this.#gone = new StoreGone(error.message)
        if (!this.#is_closing) this.onLost?.(error)
        for (const { reject } of this.#pending.values()) reject(this.#gone)
        this.#pending.clear()
        resolve()
      }
      worker.on('error', end)
      worker.on('exit', () => end(new Error('the event store is closed')))
    })
  }

  call<Name extends keyof Calls>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<ReturnType<Calls[Name]>> {
    return this.#post(++this.#last_id, name, args)
  }

  /** When it is aborted, the thread is told, and throws away what it has done before this throws the signal's reason. */
  async callUntil<Name extends keyof Calls>(
    signal: AbortSignal,
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<ReturnType<Calls[Name]>> {
    signal.throwIfAborted()
    const id = ++this.#last_id
    const abort = () => this.#worker.postMessage({ abort: id } satisfies Abort)
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await this.#post(id, name, args)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  #post<Name extends keyof Calls>(
    id: number,
    name: Name,
    args: Parameters<Calls[Name]>,
  ): Promise<ReturnType<Calls[Name]>> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject })
      this.#worker.postMessage({ id, name, args })
    })
  }

  async close(): Promise<void> {
    if (this.#gone) return
    this.#is_closing = true
    await this.call('close')
    await this.#ended
  }

  #settle(answer: Exclude<Answer, { ready: true }>): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (!pending) return
    if ('fault' in answer) pending.reject(restoreFault(answer.fault))
    else pending.resolve(answer.result)
  }
}
