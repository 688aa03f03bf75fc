// What an app may import. Everything else fails its loading, with the names that would not.
import { setAlarm } from './alarms.ts'
import { GuestBuffer } from './buffer.ts'
import { toBase64, toBytes } from './bytes.ts'
import { RetryError } from './errors.ts'
import { GuestHeaders, guestFetch } from './fetch.ts'
import { ask } from './host.ts'
import { makeCreateBuffer } from './create-buffer.ts'
import { GuestURL, GuestURLSearchParams } from './url.ts'

/** A hash, or an HMAC when there is a key. */
class Digest {
  readonly #parts: Uint8Array[] = []

  constructor(
    private readonly algorithm: string,
    private readonly key: string | null,
  ) {
    ask('digest', algorithm, key, '')
  }
  update(data: unknown, encoding?: unknown): this {
    this.#parts.push(typeof data === 'string' ? GuestBuffer.from(data, encoding) : toBytes(data))
    return this
  }
  digest(encoding?: unknown): string | GuestBuffer {
    const digest = ask('digest', this.algorithm, this.key, toBase64(GuestBuffer.concat(this.#parts)))
    const bytes = GuestBuffer.from(digest, 'base64')
    return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding)
  }
}

const crypto = {
  createHash: (algorithm: unknown) => new Digest(String(algorithm), null),
  createHmac: (algorithm: unknown, key: unknown) => new Digest(String(algorithm), toBase64(toBytes(key))),
  randomUUID: () => ask('randomUuid'),
  randomBytes: (size: unknown) => GuestBuffer.from(ask('randomBytes', size), 'base64'),
  timingSafeEqual(one: unknown, other: unknown): boolean {
    return ask('sameBytes', toBase64(toBytes(one)), toBase64(toBytes(other))) as boolean
  },
}

const zlib = {
  gzipSync: (data: unknown) => GuestBuffer.from(ask('gzip', toBase64(toBytes(data))), 'base64'),
  gunzipSync: (data: unknown) => GuestBuffer.from(ask('gunzip', toBase64(toBytes(data))), 'base64'),
}

const MODULES = new Map<string, object>([
  ['crypto', withDefault(crypto)],
  ['url', withDefault({ URL: GuestURL, URLSearchParams: GuestURLSearchParams })],
  ['zlib', withDefault(zlib)],
  ['node-fetch', Object.assign(guestFetch, { default: guestFetch, Headers: GuestHeaders })],
  ['@posthog/plugin-scaffold', { RetryError }],
  ['@posthog/plugin-contrib', { createBuffer: makeCreateBuffer(setAlarm) }],
])

/** `import crypto from 'crypto'` is read from `default` by some compilers. */
function withDefault<T extends object>(module: T): T & { default: T } {
  return { ...module, default: module }
}

export function requireModule(name: unknown): object {
  const module = MODULES.get(String(name).replace(/^node:/, ''))
  if (module === undefined) {
    throw new Error(`${String(name)} cannot be imported. Possible are: ${[...MODULES.keys()].join(', ')}`)
  }
  return module
}
