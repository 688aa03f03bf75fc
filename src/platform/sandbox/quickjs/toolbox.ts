// What the guest cannot do itself, or not fast enough: hashes, compression, addresses. Data are base64.
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { MAX_UNZIPPED_BYTES } from '../limits.ts'
import { readInteger, readText, Refusal } from './untrusted.ts'

export type Operation = (...args: unknown[]) => unknown

const ALGORITHMS = new Set(['md5', 'sha1', 'sha256', 'sha512'])
const MAX_RANDOM_BYTES = 65_536
const URL_PARTS = [
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
type UrlPart = (typeof URL_PARTS)[number]

const readBytes = (value: unknown) => Buffer.from(readText(value), 'base64')

export const TOOLBOX: Record<string, Operation> = {
  digest(name, key, data) {
    const algorithm = readText(name).toLowerCase()
    if (!ALGORITHMS.has(algorithm)) {
      throw new Refusal(`the hash ${algorithm.slice(0, 50)} is not known: md5, sha1, sha256 and sha512 are`)
    }
    const digest = key === null ? createHash(algorithm) : createHmac(algorithm, readBytes(key))
    return digest.update(readBytes(data)).digest('base64')
  },
  encodeUtf8: (text) => Buffer.from(readText(text)).toString('base64'),
  decodeUtf8: (data) => readBytes(data).toString(),
  randomUuid: () => randomUUID(),
  randomBytes(size) {
    const count = readInteger(size)
    if (count < 0 || count > MAX_RANDOM_BYTES)
      throw new Refusal(`0 to ${MAX_RANDOM_BYTES} bytes are possible`)
    return randomBytes(count).toString('base64')
  },
  sameBytes(one, other) {
    const [a, b] = [readBytes(one), readBytes(other)]
    if (a.length !== b.length) throw new Refusal('both must have the same length')
    return timingSafeEqual(a, b)
  },
  gzip(data) {
    const bytes = readBytes(data)
    if (bytes.length > MAX_UNZIPPED_BYTES) throw new Refusal('at most 5 MB can be compressed')
    return gzipSync(bytes).toString('base64')
  },
  gunzip(data) {
    try {
      return gunzipSync(readBytes(data), { maxOutputLength: MAX_UNZIPPED_BYTES }).toString('base64')
    } catch {
      throw new Refusal('it is not gzip, or more than 5 MB unpacked')
    }
  },
  parseUrl(url, base) {
    const from = base === null ? undefined : readText(base)
    return URL.canParse(readText(url), from) ? describeUrl(new URL(readText(url), from)) : null
  },
  changeUrl(href, part, value) {
    const url = new URL(readText(href))
    const name = URL_PARTS.find((known) => known === part)
    if (name === undefined) throw new Refusal('an address has no such part')
    url[name] = readText(value)
    return describeUrl(url)
  },
}

function describeUrl(url: URL): Record<UrlPart | 'href' | 'origin', string> {
  const parts = URL_PARTS.map((part) => [part, url[part]])
  return { ...Object.fromEntries(parts), href: url.href, origin: url.origin }
}
