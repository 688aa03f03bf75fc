// Calls an app's functions and puts what comes back into words: at once, or later when it is a promise.
import { ringAll } from './alarms.ts'
import { describeThrown } from './errors.ts'
import type { Found } from './exports.ts'
import { ask } from './host.ts'
import { WatchedEvent } from './watched-event.ts'

const { parse, stringify } = JSON
const { then } = Promise.prototype
const resolve = Promise.resolve.bind(Promise)
const MAX_UNWANTED_LENGTH = 1024 * 1024
const PENDING = '{"pending":true}'

export class App {
  constructor(
    private readonly found: Found,
    private readonly meta: object,
  ) {}

  /** Anything but processEvent. */
  call(id: number, text: string): string {
    const { method, name, input } = parse(text) as { method: string; name: string; input: unknown }
    return this.#settle(
      id,
      () => this.#invoke(method, name, input),
      (result) => presentResult(result, method === 'composeWebhook'),
    )
  }

  processEvent(id: number, fields: string, properties: string, isNested: boolean): string {
    const watched = new WatchedEvent(fields, properties, isNested)
    try {
      const result = this.found.methods.processEvent!(watched.event, this.meta)
      if (result === watched.event || !isThenable(result)) return watched.present(result)
      return this.#wait(id, result, (settled) => watched.present(settled))
    } catch (error) {
      return presentThrown(error)
    }
  }

  #invoke(method: string, name: string, input: unknown): unknown {
    const { methods, jobs, tasks } = this.found
    if (method === 'job') return this.#need(jobs[name], name)(input, this.meta)
    if (method === 'task') return this.#need(tasks[name], name)(this.meta)
    if (method === 'teardownPlugin') return this.#tearDown()
    const called = this.#need(methods[method], method)
    if (method === 'setupPlugin') return called(this.meta)
    if (method === 'composeWebhook') {
      const event = input as { timestamp?: unknown }
      if (typeof event.timestamp === 'string') event.timestamp = new Date(event.timestamp)
    }
    return called(input, this.meta)
  }

  /** What its buffers still hold would be lost: few apps empty them themselves. */
  async #tearDown(): Promise<void> {
    try {
      await this.found.methods.teardownPlugin?.(this.meta)
    } finally {
      await ringAll()
    }
  }

  #need<T>(called: T | undefined, name: string): T {
    if (called === undefined) throw new Error(`the app has no such function: ${name}`)
    return called
  }

  #settle(id: number, run: () => unknown, present: (result: unknown) => string): string {
    try {
      const result = run()
      return isThenable(result) ? this.#wait(id, result, present) : present(result)
    } catch (error) {
      return presentThrown(error)
    }
  }

  #wait(id: number, result: unknown, present: (result: unknown) => string): string {
    const settle = (text: string) => ask('settled', id, text)
    const settled = then.call(resolve(result), (value) => settle(present(value)))
    void then.call(settled, undefined, (error: unknown) => settle(presentThrown(error)))
    return PENDING
  }
}

/** What nobody asked for may be anything: the call went well all the same. */
function presentResult(result: unknown, isWanted: boolean): string {
  try {
    const text = stringify({ result: result ?? null })
    if (isWanted || text.length <= MAX_UNWANTED_LENGTH) return text
  } catch (error) {
    if (isWanted) throw error
  }
  return '{"result":null}'
}

export const presentThrown = (thrown: unknown): string => stringify({ thrown: describeThrown(thrown) })

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}
