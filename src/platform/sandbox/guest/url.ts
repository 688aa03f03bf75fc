// URL and URLSearchParams. The host takes addresses apart; the list of parameters is ours.
import { ask } from './host.ts'

type Parts = Record<(typeof PARTS)[number] | 'href' | 'origin', string>
const PARTS = [
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

export class GuestURLSearchParams {
  #pairs: [string, string][] = []
  #onChange: (() => void) | undefined

  constructor(from: unknown = '') {
    if (typeof from === 'string') this.#pairs = parseQuery(from)
    else if (from instanceof GuestURLSearchParams) this.#pairs = [...from]
    else if (isIterable(from)) this.#pairs = Array.from(from, ([key, value]) => [String(key), String(value)])
    else this.#pairs = Object.entries(from as object).map(([key, value]) => [key, String(value)])
  }

  /** The parameters of an address, which hears of their changes. */
  static of(query: string, onChange: () => void): GuestURLSearchParams {
    const params = new GuestURLSearchParams(query)
    params.#onChange = onChange
    return params
  }

  get size(): number {
    return this.#pairs.length
  }
  get(name: string): string | null {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null
  }
  getAll(name: string): string[] {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value)
  }
  has(name: string): boolean {
    return this.#pairs.some(([key]) => key === name)
  }
  append(name: string, value: unknown): void {
    this.#pairs.push([String(name), String(value)])
    this.#onChange?.()
  }
  set(name: string, value: unknown): void {
    const first = this.#pairs.findIndex(([key]) => key === String(name))
    if (first === -1) return this.append(name, value)
    this.#pairs[first]![1] = String(value)
    this.#pairs = this.#pairs.filter(([key], at) => at <= first || key !== String(name))
    this.#onChange?.()
  }
  delete(name: string): void {
    this.#pairs = this.#pairs.filter(([key]) => key !== String(name))
    this.#onChange?.()
  }
  sort(): void {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    this.#onChange?.()
  }
  forEach(visit: (value: string, key: string, params: GuestURLSearchParams) => void): void {
    for (const [key, value] of this.#pairs) visit(value, key, this)
  }
  *entries(): Generator<[string, string]> {
    for (const [key, value] of this.#pairs) yield [key, value]
  }
  *keys(): Generator<string> {
    for (const [key] of this.#pairs) yield key
  }
  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value
  }
  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries()
  }
  toString(): string {
    return this.#pairs.map((pair) => pair.map(encodeQuery).join('=')).join('&')
  }
}

function isIterable(value: unknown): value is Iterable<[unknown, unknown]> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function parseQuery(query: string): [string, string][] {
  const text = query[0] === '?' ? query.slice(1) : query
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at === -1
        ? [decodeQuery(part), '']
        : [decodeQuery(part.slice(0, at)), decodeQuery(part.slice(at + 1))]
    })
}

function decodeQuery(text: string): string {
  const spaced = text.replace(/\+/g, ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

function encodeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

export class GuestURL {
  #parts: Parts
  #params: GuestURLSearchParams | undefined

  constructor(url: string | URL, base?: string | URL) {
    this.#parts = read(String(url), base === undefined ? null : String(base))
  }

  static canParse(url: string | URL, base?: string | URL): boolean {
    try {
      return Boolean(new GuestURL(url, base))
    } catch {
      return false
    }
  }

  get href(): string {
    return this.#parts.href
  }
  set href(href: string) {
    this.#parts = read(String(href), null)
    this.#params = undefined
  }
  get origin(): string {
    return this.#parts.origin
  }
  get searchParams(): GuestURLSearchParams {
    this.#params ??= GuestURLSearchParams.of(this.#parts.search, () => {
      this.#parts = change(this.#parts.href, 'search', String(this.#params))
    })
    return this.#params
  }
  toString(): string {
    return this.#parts.href
  }
  toJSON(): string {
    return this.#parts.href
  }

  static {
    for (const part of PARTS) {
      Object.defineProperty(this.prototype, part, {
        get(this: GuestURL) {
          return this.#parts[part]
        },
        set(this: GuestURL, value: unknown) {
          this.#parts = change(this.#parts.href, part, String(value))
          if (part === 'search') this.#params = undefined
        },
        enumerable: true,
        configurable: true,
      })
    }
  }
}

function read(url: string, base: string | null): Parts {
  const parts = ask('parseUrl', url, base) as Parts | null
  if (parts === null) throw new TypeError('Invalid URL')
  return parts
}

const change = (href: string, part: string, value: string) => ask('changeUrl', href, part, value) as Parts
