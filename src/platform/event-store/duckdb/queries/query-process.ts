// One query process as the main thread holds it: started when it is needed, killed from outside when a question takes
// longer or more memory than it may. The engine's planner cannot be interrupted, so asking it to stop is not enough.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { threadFile } from '../../../threads.ts'
import { QueryFault, QueryTimeout, type StoreAnswer, type StoreQuery } from '../../event-store.ts'
import { Caller } from '../calls.ts'
import { TOO_LARGE } from '../faults.ts'
import { processPort } from '../ports.ts'
import type { Manifest, Segment } from '../segments/manifest.ts'
import type { Rewrite } from '../segments/rewrite.ts'
import type { QueryCalls, QueryOptions } from './messages.ts'

/** How long after its time a question may take to stop by itself. */
const GRACE_MS = 2_000
const LOOK_EVERY_MS = 100
/** What the process takes besides the engine's memory, at most: the program itself, and an answer on its way. */
const BESIDES_MB = 400
/** Addresses are set aside in far larger pieces than are used: this stops what grows faster than anybody can look. */
const ADDRESSES_MB = 4_096
/** Fewer than the process keeps (views.ts): what is known to be there is there. */
const MAX_SHOWN = 300

type Started = { child: ChildProcess; caller: Caller<QueryCalls>; shown: Map<number, Manifest> }

export class QueryProcess {
  #started: Started | null = null

  constructor(private readonly options: QueryOptions) {}

  /** Before it is needed. */
  warmUp(): void {
    this.#started ??= this.#start()
  }

  async query(query: StoreQuery, manifest: Manifest, signal?: AbortSignal): Promise<StoreAnswer> {
    const { child, caller, shown } = (this.#started ??= this.#start())
    await caller.ready
    const isShown = shown.get(query.project_id) === manifest
    const watch = new Watch(child, this.options, signal)
    try {
      const first = await askFirst(caller, signal, query, isShown ? null : manifest)
      keepShown(shown, query.project_id, manifest)
      const rows = [...first.rows]
      for (let next = first.rest; next !== null;) {
        await nextTurn()
        signal?.throwIfAborted()
        const part: Awaited<ReturnType<typeof caller.call<'more'>>> = await caller.call('more', next)
        for (const row of part.rows) rows.push(row)
        next = part.rest
      }
      const { columns, sources } = first
      return { columns, rows, ...(sources ? { sources } : {}) }
    } catch (error) {
      throw watch.reason ?? error
    } finally {
      watch.end()
    }
  }

  async rewrite(project_id: number, order: Rewrite, signal: AbortSignal): Promise<Segment> {
    const { child, caller } = (this.#started ??= this.#start())
    await caller.ready
    const watch = new Watch(child, this.options, signal)
    try {
      return await caller.callUntil(signal, 'rewrite', project_id, order)
    } catch (error) {
      throw watch.reason ?? error
    } finally {
      watch.end()
    }
  }

  /** It holds nothing that would be lost. */
  async kill(): Promise<void> {
    const started = this.#started
    this.#started = null
    if (!started) return
    const ended = started.caller.expectEnd()
    started.child.kill('SIGKILL')
    await ended
  }

  #start(): Started {
    const child = spawnLimited(this.options)
    const started = { child, caller: new Caller<QueryCalls>(processPort(child)), shown: new Map() }
    // A question that could not be sent any more tells of its end before its exit does.
    for (const end of ['error', 'exit']) child.once(end, () => this.#forget(started))
    return started
  }

  #forget(started: Started): void {
    if (this.#started === started) this.#started = null
    started.child.kill('SIGKILL')
  }
}

function askFirst(
  caller: Caller<QueryCalls>,
  signal: AbortSignal | undefined,
  ...args: Parameters<QueryCalls['query']>
) {
  return signal ? caller.callUntil(signal, 'query', ...args) : caller.call('query', ...args)
}

function keepShown(shown: Map<number, Manifest>, project_id: number, manifest: Manifest): void {
  if (shown.get(project_id) === manifest) return
  shown.delete(project_id)
  shown.set(project_id, manifest)
  const [oldest] = shown.keys()
  if (shown.size > MAX_SHOWN) shown.delete(oldest!)
}

function spawnLimited(options: QueryOptions): ChildProcess {
  const addresses_kb = (ADDRESSES_MB + 2 * options.memory_mb) * 1024
  // Where there is no such limit, the watch is left.
  const script = `ulimit -v ${addresses_kb} 2>/dev/null; exec "$0" "$@"`
  const child = spawn(
    '/bin/sh',
    ['-c', script, process.execPath, threadFile('query'), JSON.stringify(options)],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
      // None of the server's: there are secrets in it.
      env: {},
    },
  )
  // When the machine runs out of memory it goes first.
  if (child.pid !== undefined) tryWrite(`/proc/${child.pid}/oom_score_adj`, '1000')
  return child
}

function tryWrite(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch {
    // Only Linux has it.
  }
}

/** Looks at a process while it is at a question. */
class Watch {
  /** Why the process was killed. */
  reason: Error | null = null
  readonly #timer: NodeJS.Timeout
  readonly #deadline: number
  /** Set once nobody wants the answer any more. */
  #given_up_at: number | null = null

  constructor(
    private readonly child: ChildProcess,
    private readonly options: QueryOptions,
    private readonly signal?: AbortSignal,
  ) {
    this.#deadline = performance.now() + options.timeout_ms + GRACE_MS
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    if (this.signal?.aborted) this.#given_up_at ??= now
    if (now > this.#deadline) this.#kill(new QueryTimeout('killed'))
    else if (this.#given_up_at !== null && now > this.#given_up_at + GRACE_MS)
      this.#kill(this.signal!.reason as Error)
    else if (residentMb(this.child.pid!) > this.options.memory_mb + BESIDES_MB) {
      this.#kill(new QueryFault(TOO_LARGE))
    }
  }

  #kill(reason: Error): void {
    this.reason = reason
    this.child.kill('SIGKILL')
    this.end()
  }
}

const PAGE_KB = 4

function residentMb(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_KB) / 1024
  } catch {
    return 0
  }
}
