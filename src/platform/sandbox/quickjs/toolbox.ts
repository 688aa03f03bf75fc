// What the guest cannot do itself, or not fast enough: hashes, compression, addresses. Data are base64.
import {
  createHash,
  createHmac,
  createPrivateKey,
  randomBytes,
  randomUUID,
  sign,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'
import { brotliCompressSync, constants, gunzipSync, gzipSync } from 'node:zlib'
import { MAX_UNZIPPED_BYTES } from '../limits.ts'
import { readInteger, readText, Refusal } from './untrusted.ts'

export type Operation = (...args: unknown[]) => unknown

const ALGORITHMS = new Set(['md5', 'sha1', 'sha256', 'sha512'])
const SIGNATURES = new Set(['rsa-sha256', 'sha256', 'rs256'])
const MAX_KEY_LENGTH = 10_000
/** A signature by a larger key takes a tenth of a second and more, which nobody could interrupt. */
const MAX_KEY_BITS = 4096
/** The highest takes a minute for 5 MB. */
const BROTLI_QUALITY = 5
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
  sign(name, pem, data) {
    if (!SIGNATURES.has(readText(name, 50).toLowerCase()))
      throw new Refusal('only RSA-SHA256 can be signed with')
    return sign('RSA-SHA256', readBytes(data), readKey(readText(pem, MAX_KEY_LENGTH))).toString('base64')
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
  brotli(data) {
    const bytes = readBytes(data)
    if (bytes.length > MAX_UNZIPPED_BYTES) throw new Refusal('at most 5 MB can be compressed')
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
    return brotliCompressSync(bytes, { params }).toString('base64')
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

/** Copied out of a JSON file by hand, a key often still has `\\n` for its line breaks. */
function readKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem.replaceAll(String.raw`\n`, '\n'))
  } catch {
    // The error's own text may quote the key.
    throw new Refusal('the private key cannot be read: it must be an RSA key in PEM form')
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? Infinity
  if (key.asymmetricKeyType !== 'rsa' || bits > MAX_KEY_BITS) {
    throw new Refusal(`an RSA key of at most ${MAX_KEY_BITS} bits is possible`)
  }
  return key
}
