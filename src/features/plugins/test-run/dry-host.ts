// What an app may ask for while it is tried out: storage that is gone afterwards, and words in place of deeds.
import { storableText } from '../../../lib/storable-text.ts'
import type { Host, LogType } from '../../../platform/sandbox/sandbox.ts'
import { HostError } from '../running/host/host-error.ts'

export type LogLine = { source: 'CONSOLE' | 'SYSTEM'; type: LogType; message: string }

const MAX_LINES = 1_000
const MAX_MESSAGE_BYTES = 10 * 1024
const MAX_STORED_LENGTH = 20 * 1024 * 1024

/** `fetch` is null where the code may not call addresses outside. */
export function openDryHost(fetch: Host['fetch'] | null): { host: Host; logs: LogLine[] } {
  const logs: LogLine[] = []
  const storage = new DryStorage()
  const log: Host['log'] = (source, type, message) => {
    if (logs.length < MAX_LINES)
      logs.push({ source, type, message: storableText(message, MAX_MESSAGE_BYTES) })
  }
  const note = (message: string) => log('SYSTEM', 'INFO', message)
  const host: Host = {
    log,
    async fetch(request, signal) {
      if (fetch) return fetch(request, signal).catch(explain)
      note(`fetch: ${request.method} ${request.url} was not sent`)
      throw new HostError('fetch is switched off for this test.')
    },
    async sqlOpen({ host: server, url }) {
      note(`database: ${server ?? (url === null ? 'no host' : 'by its address')} was not connected to`)
      throw new HostError('Databases are switched off for a test.')
    },
    sqlQuery: async () => NO_DATABASE,
    sqlClose: async () => undefined,
    async api({ method, path }) {
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
    capture: async (event, properties) => note(`capture: ${JSON.stringify({ event, properties })}`),
    enqueueJob: async (name, payload, run_at) =>
      note(`job: ${JSON.stringify({ name, payload, run_at: run_at.toISOString() })}`),
    metric: (name, kind, value) => note(`metric: ${JSON.stringify({ name, kind, value })}`),
    stopped: ({ message }) => log('SYSTEM', 'ERROR', message),
  }
  return { host, logs }
}

const NO_DATABASE = { command: '', count: null, fields: [], rows: [] }

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
