// What an app may ask for while it is tried out: storage that is gone afterwards, and words in place of deeds.
import { storableText } from '../../../lib/storable-text.ts'
import type { Host, LogType } from '../../../platform/sandbox/sandbox.ts'
import { HostError } from '../running/host/host-error.ts'
import type { TestCall } from './schema.ts'

export type LogLine = { source: 'CONSOLE' | 'SYSTEM'; type: LogType; message: string }

const MAX_LINES = 1_000
const MAX_CALLS = 1_000
const MAX_MESSAGE_BYTES = 10 * 1024
const MAX_STORED_LENGTH = 20 * 1024 * 1024

export type DryRun = { host: Host; logs: LogLine[]; calls: TestCall[]; called(call: TestCall): void }

/** `fetch` is null where the code may not call addresses outside. */
export function openDryHost(fetch: Host['fetch'] | null): DryRun {
  const logs: LogLine[] = []
  const calls: TestCall[] = []
  const storage = new DryStorage()
  const log: Host['log'] = (source, type, message) => {
    if (logs.length < MAX_LINES)
      logs.push({ source, type, message: storableText(message, MAX_MESSAGE_BYTES) })
  }
  const called = (call: TestCall) => {
    if (calls.length < MAX_CALLS)
      calls.push({
        ...call,
        target: storableText(call.target, MAX_MESSAGE_BYTES),
        detail: cutDetail(call.detail),
      })
  }
  const wouldHave = (kind: TestCall['kind'], target: string, detail: TestCall['detail'] = {}) =>
    called({ kind, target, detail, was_made: false })
  const note = (message: string) => log('SYSTEM', 'INFO', message)
  const host: Host = {
    log,
    async fetch(request, signal) {
      const { method, url, headers, body } = request
      const detail = { headers, body: body === null ? null : Buffer.from(body, 'base64').toString() }
      called({ kind: 'fetch', target: `${method} ${url}`, detail, was_made: fetch !== null })
      if (fetch) return fetch(request, signal).catch(explain)
      note(`fetch: ${method} ${url} was not sent`)
      throw new HostError('fetch is switched off for this test: send `"fetch": true` to switch it on.')
    },
    async sqlOpen({ host: server, url }) {
      const named = server ?? (url === null ? 'no host' : 'by its address')
      wouldHave('database', named)
      note(`database: ${named} was not connected to`)
      throw new HostError('Databases are switched off for a test.')
    },
    sqlQuery: async () => NO_DATABASE,
    sqlClose: async () => undefined,
    async api({ method, path, body }) {
      wouldHave('api', `${method} ${path}`, { body })
      note(`posthog.api: ${method} ${path} was not called`)
      throw new HostError('posthog.api is switched off for a test.')
    },
    storageGet: async (key) => storage.get(key),
    storageSet: async (key, value) => storage.set(key, value),
    storageDelete: async (key) => storage.delete(key),
    async storageIncrement(key, by) {
      const sum = Number(storage.get(key) ?? 0) + by
      storage.set(key, String(sum))
      return sum
    },
    async storageInit(key, value) {
      if (storage.get(key) === null) storage.set(key, String(value))
    },
    async capture(event, properties) {
      wouldHave('capture', event, properties)
      note(`capture: ${JSON.stringify({ event, properties })}`)
    },
    async enqueueJob(name, payload, run_at) {
      const detail = { payload, run_at: run_at.toISOString() }
      wouldHave('job', name, detail)
      note(`job: ${JSON.stringify({ name, ...detail })}`)
    },
    metric(name, kind, value) {
      wouldHave('metric', name, { kind, value })
      note(`metric: ${JSON.stringify({ name, kind, value })}`)
    },
    stopped: ({ message }) => log('SYSTEM', 'ERROR', message),
  }
  return { host, logs, calls, called }
}

const NO_DATABASE = { command: '', count: null, fields: [], rows: [] }

/** A thousand of them must fit into one answer. */
function cutDetail(detail: TestCall['detail']): TestCall['detail'] {
  const text = JSON.stringify(detail)
  return Buffer.byteLength(text) <= MAX_MESSAGE_BYTES
    ? detail
    : { cut: storableText(text, MAX_MESSAGE_BYTES) }
}

/** An app reads nothing of our own errors. */
function explain(error: unknown): never {
  throw error instanceof HostError ? error : new HostError('This cannot be done at the moment.')
}

class DryStorage {
  readonly #values = new Map<string, string>()
  #length = 0

  get(key: string): string | null {
    return this.#values.get(key) ?? null
  }

  set(key: string, value: string): void {
    this.delete(key)
    if (this.#length + key.length + value.length > MAX_STORED_LENGTH) {
      throw new HostError('The storage of this app is full: 20 MB at most.')
    }
    this.#length += key.length + value.length
    this.#values.set(key, value)
  }

  delete(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#length -= key.length + value.length
    this.#values.delete(key)
  }
}
