// One thread of the sandbox as the main thread sees it: started at its first use, watched, and replaced when an app holds
// it past its time.
import type { Worker } from 'node:worker_threads'
import { Turns } from '../../lib/turns.ts'
import type { Priority } from '../thread-priority.ts'
import { startThread } from '../threads.ts'
import { HostRequests } from './host-requests.ts'
import { WATCHDOG_GRACE_MS, type Limits } from './limits.ts'
import {
  monotonicMs,
  restoreFault,
  toThreadApp,
  type FromThread,
  type ThreadOptions,
  type ToThread,
  type Work,
} from './messages.ts'
import { RunningWord } from './running-word.ts'
import { AppFault, type Host, type SandboxedApp } from './sandbox.ts'

const WATCH_EVERY_MS = 250
const CLOSE_GRACE_MS = 1_000
// Enough for the depth QuickJS allows itself. JSON nested deeper ends here, before it has taken seconds.
const STACK_MB = 1
/** Tasks that lie ready at the thread. One more would be one more that a newcomer has to wait for. */
const AT_HAND = 2

type Task =
  | { kind: 'work'; app: SandboxedApp; work: Work }
  | { kind: 'inspect'; code: string; mappings: string | null }
  | { kind: 'dispose'; app_id: number }
type Known = { host: Host; tenant: string | null }
type Pending = { task: Task; resolve(result: unknown): void; reject(error: Error): void }

export class ThreadLink {
  readonly #pending = new Map<number, Pending>()
  /** Tenants take turns at the places of what lies ready at the thread. */
  readonly #turns = new Turns<string | null, symbol>(Array.from({ length: AT_HAND }, () => Symbol('place')))
  /** The places that are taken, by the number of the task. */
  readonly #places = new Map<number, symbol>()
  readonly #known = new Map<number, Known>()
  /** What the thread was told of each app. */
  readonly #versions = new Map<number, string>()
  #worker: Worker | null = null
  #word = new RunningWord(RunningWord.makeMemory())
  #requests = new HostRequests()
  #watch: NodeJS.Timeout | undefined
  #last_id = 0
  #isReady = false
  #isClosed = false
  #onClosed = () => {}

  constructor(
    private readonly limits: Limits,
    private readonly geoip_database: SharedArrayBuffer | null,
    private readonly priority: Priority,
    private readonly onStopped: (app_id: number, fault: AppFault) => void,
  ) {}

  /** Throws AppFault. */
  work(app: SandboxedApp, host: Host, work: Work): Promise<unknown> {
    this.#known.set(app.id, { host, tenant: app.tenant })
    return this.#do({ kind: 'work', app, work })
  }

  inspect(code: string, mappings: string | null): Promise<unknown> {
    return this.#do({ kind: 'inspect', code, mappings })
  }

  async dispose(app_id: number): Promise<void> {
    const known = this.#known.get(app_id)
    if (!known) return
    await this.#do({ kind: 'dispose', app_id })
    // Otherwise it is at work again.
    if (this.#known.get(app_id) !== known) return
    this.#versions.delete(app_id)
    this.#known.delete(app_id)
  }

  /** Whether this app's code runs at the moment, and past its time: the watchdog is about to act. */
  isHeldUpBy(app_id: number): boolean {
    const running = this.#word.running
    return running?.app_id === app_id && monotonicMs() >= running.until
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker && !this.#isClosed) {
      const closed = new Promise<void>((resolve) => (this.#onClosed = resolve))
      this.#tell(worker, { kind: 'close' })
      this.#isClosed = true
      const tooLong = setTimeout(() => void worker.terminate(), this.limits.teardown_wall_ms + CLOSE_GRACE_MS)
      await closed
      clearTimeout(tooLong)
      await this.#worker?.terminate()
    }
    this.#isClosed = true
  }

  #do(task: Task): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new AppFault('gone', 'the sandbox is closed'))
    return new Promise((resolve, reject) => void this.#inTurn({ task, resolve, reject }))
  }

  async #inTurn(pending: Pending): Promise<void> {
    const place = await this.#turns.take(this.#tenantOf(pending.task))
    if (!this.#isClosed) return this.#post(pending, place)
    this.#turns.giveBack(place)
    pending.reject(new AppFault('gone', 'the sandbox is closed'))
  }

  #tenantOf(task: Task): string | null {
    if (task.kind === 'inspect') return null
    return this.#known.get(task.kind === 'work' ? task.app.id : task.app_id)?.tenant ?? null
  }

  #post(pending: Pending, place: symbol): void {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#last_id
    this.#pending.set(id, pending)
    this.#places.set(id, place)
    const { task } = pending
    if (task.kind === 'work') {
      const { id: app_id, version } = task.app
      if (this.#versions.get(app_id) !== version)
        this.#tell(worker, { kind: 'app', app: toThreadApp(task.app) })
      this.#versions.set(app_id, version)
      this.#tell(worker, { kind: 'work', id, app_id, version, work: task.work })
    } else this.#tell(worker, { ...task, id })
  }

  #tell(worker: Worker, message: ToThread): void {
    worker.postMessage(message)
  }

  #start(): Worker {
    const memory = RunningWord.makeMemory()
    this.#word = new RunningWord(memory)
    this.#requests = new HostRequests()
    this.#isReady = false
    const { limits, geoip_database, priority } = this
    const options: ThreadOptions = { limits, word: memory, geoip_database, priority }
    const worker = startThread('sandbox', options, {
      env: {},
      argv: [],
      stdin: false,
      resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: STACK_MB },
    })
    worker.unref()
    worker.on('message', (message: FromThread) => this.#take(worker, message))
    worker.on('error', () => undefined)
    worker.on('exit', () => this.#recover(worker))
    clearInterval(this.#watch)
    this.#watch = setInterval(() => this.#endWhoeverHoldsIt(worker), WATCH_EVERY_MS).unref()
    return worker
  }

  #endWhoeverHoldsIt(worker: Worker): void {
    const running = this.#word.running
    if (running && monotonicMs() > running.until + WATCHDOG_GRACE_MS) void worker.terminate()
  }

  /**
   * The thread is gone. The app whose code ran gets `killed`. Of the others, events go through processEvent again, and so
   * does everything the thread had not begun. A call that had begun may have done half of its work: it is not repeated
   * here but fails as `gone`, and whoever made it knows whether to try again.
   */
  #recover(worker: Worker): void {
    if (this.#worker !== worker) return
    const guilty = this.#word.running?.app_id
    const { taken } = this.#word
    const wasReady = this.#isReady
    this.#worker = null
    clearInterval(this.#watch)
    this.#versions.clear()
    this.#requests.abortAll()
    this.#onClosed()
    for (const id of this.#places.keys()) this.#begun(id)
    const all = [...this.#pending]
    this.#pending.clear()
    const killed = new AppFault('killed', 'its thread had to be ended, because nothing else stopped it')
    const isOfGuilty = ([id, { task }]: [number, Pending]) =>
      guilty !== undefined && guilty === appOf(task, id)
    if (guilty !== undefined && !all.some(isOfGuilty)) this.#stopped(guilty, killed)
    for (const [id, pending] of all) {
      const { task } = pending
      if (isOfGuilty([id, pending])) pending.reject(killed)
      else if (task.kind === 'dispose') pending.resolve(undefined)
      else if (this.#isClosed || !wasReady) pending.reject(new AppFault('gone', 'the thread ended'))
      else if (id > taken || task.kind === 'inspect' || task.work.kind !== 'call') void this.#inTurn(pending)
      else pending.reject(new AppFault('gone', 'its thread ended because of another app'))
    }
  }

  #take(worker: Worker, message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true
        return
      case 'begun':
        return this.#begun(message.id)
      case 'closed':
        return this.#onClosed()
      case 'done':
        return this.#settled(message.id)?.resolve(message.result)
      case 'failed':
        return this.#settled(message.id)?.reject(restoreFault(message.fault))
      case 'unknown':
        return this.#sendAgain(message.id)
      case 'stopped':
        return this.#stopped(message.app_id, restoreFault(message.fault))
      case 'request':
        return void this.#answer(worker, message)
      case 'abort':
        return this.#requests.abort(message.request_id)
      case 'log':
        return this.#known.get(message.app_id)?.host.log(message.source, message.type, message.message)
      case 'metric':
        return this.#known.get(message.app_id)?.host.metric(message.name, message.metric, message.value)
      default:
        return message satisfies never
    }
  }

  #stopped(app_id: number, fault: AppFault): void {
    this.onStopped(app_id, fault)
    this.#known.get(app_id)?.host.stopped(fault)
  }

  #settled(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #begun(id: number): void {
    const place = this.#places.get(id)
    this.#places.delete(id)
    if (place) this.#turns.giveBack(place)
  }

  #sendAgain(id: number): void {
    const pending = this.#settled(id)
    if (pending?.task.kind !== 'work') return
    this.#versions.delete(pending.task.app.id)
    void this.#inTurn(pending)
  }

  async #answer(
    worker: Worker,
    { request_id, app_id, request }: FromThread & { kind: 'request' },
  ): Promise<void> {
    const answer = await this.#requests.answer(request_id, this.#known.get(app_id)?.host, request)
    this.#tell(worker, { kind: 'answer', request_id, answer })
  }
}

/** Who is said to run while this is done. Code that is only looked at has no number but that of the task. */
function appOf(task: Task, id: number): number | null {
  if (task.kind === 'work') return task.app.id
  return task.kind === 'inspect' ? -id : null
}
