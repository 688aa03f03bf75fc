// storage (the host's, durable), utils.cursor (counters in it) and cache (in the thread's memory).
import { ask, request } from './host.ts'

export const storage = {
  async get(key: string, fallback?: unknown): Promise<unknown> {
    const text = (await request('storageGet', key)) as string | null
    return text === null ? fallback : JSON.parse(text)
  },
  async set(key: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value)
    await (text === undefined ? request('storageDelete', key) : request('storageSet', key, text))
  },
  async del(key: string): Promise<void> {
    await request('storageDelete', key)
  },
}

export const cursor = {
  async init(key: string, value = 0): Promise<void> {
    await request('storageInit', key, value)
  },
  increment: (key: string, by = 1) => request('storageIncrement', key, by),
}

type Options = { jsonSerialize?: boolean }

export const cache = {
  async get(key: string, fallback?: unknown, { jsonSerialize = true }: Options = {}): Promise<unknown> {
    const text = ask('cacheGet', key) as string | null
    if (text === null) return fallback
    return jsonSerialize ? JSON.parse(text) : text
  },
  async set(
    key: string,
    value: unknown,
    ttl_s?: number,
    { jsonSerialize = true }: Options = {},
  ): Promise<void> {
    ask('cacheSet', key, ttl_s ?? null, jsonSerialize ? (JSON.stringify(value) ?? 'null') : String(value))
  },
  incr: async (key: string) => ask('cacheIncrement', key),
  expire: async (key: string, ttl_s: number) => ask('cacheExpire', key, ttl_s),
  lpush: async (key: string, values: unknown) =>
    ask('cachePush', key, (Array.isArray(values) ? values : [values]).map(String)),
  lrange: async (key: string, from: number, to: number) => ask('cacheRange', key, from, to),
  llen: async (key: string) => ask('cacheLength', key),
  lpop: async (key: string, count = 1) => ask('cachePop', key, count),
  lrem: async (key: string, count: number, value: unknown) => ask('cacheRemove', key, count, String(value)),
}
