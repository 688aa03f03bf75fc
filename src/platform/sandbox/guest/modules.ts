// What an app may import. Everything else fails its loading, with the names that would not.
import { setAlarm } from './alarms.ts'
import { GuestBuffer } from './buffer.ts'
import { toBase64, toBytes } from './bytes.ts'
import { RetryError } from './errors.ts'
import { FetchError, GuestHeaders, guestFetch } from './fetch.ts'
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

/** RSA with SHA-256, by a key in PEM form. */
class Signature {
  readonly #parts: Uint8Array[] = []

  constructor(private readonly algorithm: string) {}
  update(data: unknown): this {
    this.#parts.push(toBytes(data))
    return this
  }
  sign(key: unknown, encoding?: unknown): string | GuestBuffer {
    const pem = typeof key === 'object' && key !== null ? (key as { key: unknown }).key : key
    const signed = ask('sign', this.algorithm, String(pem), toBase64(GuestBuffer.concat(this.#parts)))
    const bytes = GuestBuffer.from(signed, 'base64')
    return encoding === undefined ? bytes : bytes.toString(encoding)
  }
}

export const crypto = {
  createHash: (algorithm: unknown) => new Digest(String(algorithm), null),
  createHmac: (algorithm: unknown, key: unknown) => new Digest(String(algorithm), toBase64(toBytes(key))),
  createSign: (algorithm: unknown) => new Signature(String(algorithm)),
  randomUUID: () => ask('randomUuid'),
  randomBytes: (size: unknown) => GuestBuffer.from(ask('randomBytes', size), 'base64'),
  timingSafeEqual(one: unknown, other: unknown): boolean {
    return ask('sameBytes', toBase64(toBytes(one)), toBase64(toBytes(other))) as boolean
  },
}

const zlib = {
  gzipSync: (data: unknown) => GuestBuffer.from(ask('gzip', toBase64(toBytes(data))), 'base64'),
  brotliCompressSync: (data: unknown) => GuestBuffer.from(ask('brotli', toBase64(toBytes(data))), 'base64'),
  gunzipSync: (data: unknown) => GuestBuffer.from(ask('gunzip', toBase64(toBytes(data))), 'base64'),
}

const MODULES = new Map<string, object>([
  ['crypto', withDefault(crypto)],
  ['url', withDefault({ URL: GuestURL, URLSearchParams: GuestURLSearchParams })],
  ['zlib', withDefault(zlib)],
  ['node-fetch', Object.assign(guestFetch, { default: guestFetch, Headers: GuestHeaders, FetchError })],
  ['@posthog/plugin-scaffold', { RetryError }],
  ['@posthog/plugin-contrib', { createBuffer: makeCreateBuffer(setAlarm) }],
])

/** Those of clients/, which is there only for apps that name one of them. */
const CLIENTS = [
  '@google-cloud/bigquery',
  '@google-cloud/pubsub',
  '@google-cloud/storage',
  'aws-sdk',
  'aws-sdk/clients/s3',
  'generic-pool',
  'pg',
  'snowflake-sdk',
  'stream',
]

export function addModules(modules: Record<string, object>): void {
  for (const [name, module] of Object.entries(modules)) MODULES.set(name, withDefault(module))
}

/** `import crypto from 'crypto'` is read from `default` by some compilers. */
function withDefault<T extends object>(module: T): T & { default: T } {
  // A class is a module too, and keeps being one.
  return (
    typeof module === 'function' ? Object.assign(module, { default: module }) : { ...module, default: module }
  ) as T & { default: T }
}

const POSSIBLE = [...MODULES.keys(), ...CLIENTS]

export function requireModule(name: unknown): object {
  const module = MODULES.get(String(name).replace(/^node:/, ''))
  if (module === undefined) {
    throw new Error(`${String(name)} cannot be imported. Possible are: ${POSSIBLE.join(', ')}`)
  }
  return module
}
