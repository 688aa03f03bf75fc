// The cache that apps of one group share: text and lists of text in the thread's memory, the least recently used dropped
// when there is too much.
import { MAX_ALL_CACHES_LENGTH, MAX_CACHE_LENGTH } from '../limits.ts'
import type { Operation } from './toolbox.ts'
import { readInteger, readNumber, readText, readTexts, Refusal } from './untrusted.ts'

type Entry = { value: string | string[]; length: number; expires_at: number }

const MAX_KEY_LENGTH = 1000
const MAX_PUSHED = 1000
// What an entry costs besides its text.
const ENTRY_LENGTH = 100
const ITEM_LENGTH = 20

/** All of a thread. The group that was not asked for longest loses its own first. */
export class Caches {
  readonly #caches = new Map<string, Cache>()

  of(group: string): Cache {
    const cache = this.#caches.get(group) ?? new Cache(() => this.#makeRoom())
    this.#caches.delete(group)
    this.#caches.set(group, cache)
    return cache
  }

  #makeRoom(): void {
    let length = 0
    for (const cache of this.#caches.values()) length += cache.length
    for (const cache of this.#caches.values()) {
      if (length <= MAX_ALL_CACHES_LENGTH) return
      length -= cache.length
      cache.clear()
    }
  }
}

class Cache {
  readonly #entries = new Map<string, Entry>()
  length = 0

  constructor(private readonly onGrown: () => void) {}

  clear(): void {
    this.#entries.clear()
    this.length = 0
  }

  operations(): Record<string, Operation> {
    const key = (value: unknown) => readText(value, MAX_KEY_LENGTH)
    return {
      cacheGet: (name) => this.#text(key(name)),
      cacheSet: (name, ttl_s, value) => this.#put(key(name), readText(value), readLifetime(ttl_s)),
      cacheIncrement: (name) => this.#increment(key(name)),
      cacheExpire: (name, ttl_s) => this.#expire(key(name), readLifetime(ttl_s)),
      cachePush: (name, values) => this.#push(key(name), readTexts(values)),
      cacheRange: (name, from, to) => range(this.#list(key(name)), readInteger(from), readInteger(to)),
      cacheLength: (name) => this.#list(key(name)).length,
      cachePop: (name, count) => this.#pop(key(name), readInteger(count)),
      cacheRemove: (name, count, value) => this.#remove(key(name), readInteger(count), readText(value)),
    }
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.expires_at <= Date.now()) {
      this.length -= entry.length
      return undefined
    }
    this.#entries.set(key, entry)
    return entry
  }

  #text(key: string): string | null {
    const value = this.#find(key)?.value ?? null
    if (Array.isArray(value)) throw new Refusal('there is a list under this key')
    return value
  }

  #list(key: string): string[] {
    const value = this.#find(key)?.value ?? []
    if (typeof value === 'string') throw new Refusal('there is no list under this key')
    return value
  }

  #put(
    key: string,
    value: string | string[],
    expires_at = this.#entries.get(key)?.expires_at ?? Infinity,
  ): void {
    const length = ENTRY_LENGTH + key.length + lengthOf(value)
    if (length > MAX_CACHE_LENGTH) throw new Refusal('it is larger than the whole cache')
    this.#drop(key)
    if (value.length === 0 && Array.isArray(value)) return
    this.#entries.set(key, { value, length, expires_at })
    this.length += length
    for (const oldest of this.#entries.keys()) {
      if (this.length <= MAX_CACHE_LENGTH) break
      this.#drop(oldest)
    }
    this.onGrown()
  }

  #drop(key: string): void {
    this.length -= this.#entries.get(key)?.length ?? 0
    this.#entries.delete(key)
  }

  #increment(key: string): number {
    const now = Number(this.#text(key) ?? '0')
    if (!Number.isSafeInteger(now)) throw new Refusal('there is no integer under this key')
    this.#put(key, String(now + 1))
    return now + 1
  }

  #expire(key: string, expires_at: number): boolean {
    const entry = this.#find(key)
    if (entry) entry.expires_at = expires_at
    return entry !== undefined
  }

  #push(key: string, values: string[]): number {
    if (values.length > MAX_PUSHED) throw new Refusal(`at most ${MAX_PUSHED} elements at once`)
    const list = [...values.reverse(), ...this.#list(key)]
    this.#put(key, list)
    return list.length
  }

  #pop(key: string, count: number): string[] {
    const list = this.#list(key)
    const popped = list.slice(0, Math.max(0, count))
    this.#put(key, list.slice(popped.length))
    return popped
  }

  /** From the head for a positive count, from the tail for a negative one, all of them for 0. */
  #remove(key: string, count: number, value: string): number {
    const list = this.#list(key)
    let left = count === 0 ? Infinity : Math.abs(count)
    const ordered = count < 0 ? list.toReversed() : list
    const kept = ordered.filter((item) => item !== value || left-- <= 0)
    this.#put(key, count < 0 ? kept.toReversed() : kept)
    return list.length - kept.length
  }
}

function readLifetime(ttl_s: unknown): number {
  return ttl_s === null || ttl_s === undefined ? Infinity : Date.now() + readNumber(ttl_s) * 1000
}

/** Both ends belong to it; negative ones count from the tail. */
function range(list: string[], from: number, to: number): string[] {
  const at = (index: number) => (index < 0 ? Math.max(0, list.length + index) : index)
  if (to < 0 && list.length + to < 0) return []
  return list.slice(at(from), at(to) + 1)
}

function lengthOf(value: string | string[]): number {
  if (typeof value === 'string') return value.length
  return value.reduce((sum, item) => sum + item.length + ITEM_LENGTH, 0)
}
