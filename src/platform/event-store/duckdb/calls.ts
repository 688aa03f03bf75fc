// Calls between the main thread and those who work for it, in threads or processes: each has a number, by which it is
// answered or given up.
import { QueryFault, QueryTimeout, StoreBusy, StoreGone, StoreTaken } from '../event-store.ts'

/** The way to the other side. */
export type Port = {
  post(message: unknown): void
  onMessage(take: (message: unknown) => void): void
  /** With the error it fell by, if it did. */
  onEnd(end: (error: Error | null) => void): void
}

// Parameters are whatever each call has; `unknown` would take none of them.
// oxlint-disable-next-line typescript/no-explicit-any
type Signatures = Record<string, (...args: any[]) => unknown>
type Pending = { resolve(result: unknown): void; reject(error: Error): void }

type Call = { id: number; name: string; args: unknown[] }
/** The call of that number need not go on. It is answered all the same. */
type Abort = { abort: number }
type Answer =
  | { id: number; result: unknown }
  | { id: number; fault: Fault }
  /** Sent once, when calls are taken; `failure` when they will not be. */
  | { ready: true; failure?: Fault }

export class Caller<Calls extends Signatures> {
  readonly ready: Promise<void>
  readonly #port: Port
  readonly #pending = new Map<number, Pending>()
  readonly #ended: Promise<void>
  #last_id = 0
  /** Set once the other side is gone: nothing more can be asked. */
  #gone: Error | null = null
  #is_closing = false
  onLost: ((error: Error) => void) | undefined

  constructor(port: Port) {
    this.#port = port
    this.ready = new Promise((resolve, reject) => {
      port.onMessage((message) => {
        const answer = message as Answer
        if (!('ready' in answer)) this.#settle(answer)
        else if (answer.failure === undefined) resolve()
        else reject(restoreFault(answer.failure))
      })
      port.onEnd((error) => reject(error ?? new StoreGone('it ended before it was ready')))
    })
    this.#ended = new Promise((resolve) => {
      port.onEnd((error) => {
        if (this.#gone) return
        this.#gone = new StoreGone(error?.message ?? 'the event store is closed')
        if (!this.#is_closing) this.onLost?.(error ?? this.#gone)
        for (const { reject } of this.#pending.values()) reject(this.#gone)
        this.#pending.clear()
        resolve()
      })
    })
    // Whoever waits for it hears of it.
    this.ready.catch(() => undefined)
  }

  call<Name extends keyof Calls & string>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    return this.#post(++this.#last_id, name, args)
  }

  /** When it is aborted, the other side is told, and throws away what it has done before this throws the signal's reason. */
  async callUntil<Name extends keyof Calls & string>(
    signal: AbortSignal,
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    signal.throwIfAborted()
    const id = ++this.#last_id
    const abort = () => this.#port.post({ abort: id } satisfies Abort)
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

  /** Ends the other side by its call `close`. */
  async close(): Promise<void> {
    if (this.#gone) return
    this.#is_closing = true
    await this.#post(++this.#last_id, 'close', [])
    await this.#ended
  }

  /** From here on its end is no loss. */
  expectEnd(): Promise<void> {
    this.#is_closing = true
    return this.#ended
  }

  #post<Result>(id: number, name: string, args: unknown[]): Promise<Result> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject })
      this.#port.post({ id, name, args } satisfies Call)
    })
  }

  #settle(answer: Exclude<Answer, { ready: true }>): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (!pending) return
    if ('fault' in answer) pending.reject(restoreFault(answer.fault))
    else pending.resolve(answer.result)
  }
}

export type Handlers<Calls extends Signatures> = {
  [Name in keyof Calls]: (
    ...args: [...Parameters<Calls[Name]>, AbortSignal]
  ) => ReturnType<Calls[Name]> | Promise<ReturnType<Calls[Name]>>
} & { close(): void | Promise<void> }

type Serving = {
  post(message: unknown): void
  onMessage(take: (message: unknown) => void): void
  end(): void
}

/** The other side of a Caller. `onFault` hears of what no answer explains. */
export async function serveCalls<Calls extends Signatures>(
  port: Serving,
  open: () => Promise<Handlers<Calls>> | Handlers<Calls>,
  onFault?: (error: unknown) => void,
): Promise<void> {
  const underway = new Map<number, AbortController>()
  let isClosing = false
  const send = (answer: Answer) => port.post(answer)
  try {
    const handlers = await open()
    port.onMessage((message) => {
      const call = message as Call | Abort
      if ('abort' in call) underway.get(call.abort)?.abort()
      else void answerCall(call)
    })
    send({ ready: true })

    const answerCall = async ({ id, name, args }: Call): Promise<void> => {
      const controller = new AbortController()
      try {
        if (isClosing) throw new StoreGone('the event store is closed')
        if (name === 'close') {
          // What comes later would be waited for, and nobody would stop it.
          isClosing = true
          for (const other of underway.values()) other.abort(new StoreGone('the event store is closed'))
        }
        underway.set(id, controller)
        const handle = handlers[name] as (...args: unknown[]) => unknown
        send({ id, result: await handle(...args, controller.signal) })
        if (name === 'close') port.end()
      } catch (error) {
        send({ id, fault: describeFault(error) })
        onFault?.(error)
      } finally {
        underway.delete(id)
      }
    }
  } catch (error) {
    send({ ready: true, failure: describeFault(error) })
    port.end()
  }
}

const FAULTS = { QueryFault, QueryTimeout, StoreBusy, StoreGone, StoreTaken, Error } as const
type FaultKind = keyof typeof FAULTS
type Fault = { kind: FaultKind; message: string }

/** Classes do not survive the way. */
function describeFault(error: unknown): Fault {
  const kinds = Object.keys(FAULTS) as FaultKind[]
  const kind = kinds.find((name) => error instanceof FAULTS[name]) ?? 'Error'
  return { kind, message: error instanceof Error ? error.message : String(error) }
}

function restoreFault({ kind, message }: Fault): Error {
  return new FAULTS[kind](message)
}
