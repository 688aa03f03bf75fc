// From the bytes of a request to JSON text: form, compression, base64. What clients declare is often wrong or missing, so
// the bytes decide wherever they can. Everything stops as soon as the result passes the limit.
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { FormFault, readMultipart, readUrlEncoded } from '../../../lib/form.ts'
import { decompressLz, LzTooLong } from './lz-text.ts'
import { invalidPayload, tooLarge } from './refusal.ts'

export type Packed = {
  bytes: Uint8Array
  content_type: string | undefined
  content_encoding: string | undefined
  /** From the query. */
  compression: string | undefined
}

export type Unpacked = {
  /** Begins like a JSON object or list. */
  text: string
  /** Form field. */
  api_key: string | null
}

/** For what a body may become. Forms and LZ-string cost several times as much as JSON of the same size. */
export type UnpackLimits = { bytes: number; costly_bytes: number }

type Form = { data: string | Uint8Array; compression: string | null; api_key: string | null }
type Unzip = (
  bytes: Uint8Array,
  options: { maxOutputLength: number; chunkSize: number },
) => Promise<Uint8Array>

const UNZIP_CHUNK = 128 * 1024
const BASE64 = /^[A-Za-z0-9+/_-]+={0,3}$/
const ENCODINGS = new Map<string, Unzip>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', inflateEither],
  ['br', promisify(brotliDecompress)],
])

export async function unpack(packed: Packed, limits: UnpackLimits): Promise<Unpacked> {
  const limit = limits.bytes
  const bytes = await unzipIfPacked(await undoEncoding(packed, limit), limit)
  const form = await readForm(bytes, packed.content_type, limits)
  const compression = form?.compression ?? packed.compression ?? ''
  const content = form ? form.data : bytes
  const text =
    typeof content === 'string' ? content : await textOf(content, limit, charsetOf(packed.content_type))
  return { text: await toJsonText(text, compression, limits), api_key: form?.api_key ?? null }
}

/** Text that is JSON, or LZ-string or base64 of it, with `+` as it should be or turned into spaces by a form. */
export async function toJsonText(given: string, compression: string, limits: UnpackLimits): Promise<string> {
  const text = undoPercent(given.trim())
  if (looksLikeJson(text)) return text
  const digits = text.replaceAll(' ', '+').replace(/\s+/g, '')
  if (!BASE64.test(digits)) throw invalidPayload(whyNoJson(text, compression.toLowerCase()))
  const unpacked =
    compression.toLowerCase() === 'lz64'
      ? undoLz(digits, limits)
      : await textOf(Buffer.from(digits, 'base64'), limits.bytes, 'utf-8')
  const json = unpacked.trim()
  if (looksLikeJson(json)) return json
  throw invalidPayload(whyNoJson(text, compression.toLowerCase()))
}

/** Almost any word could be base64: what the sender said comes first. */
function whyNoJson(text: string, compression: string): string {
  if (isJson(text)) return 'The body must be a JSON object or list.'
  if (compression.startsWith('gzip'))
    return 'The body is not gzip, though `compression` says so, and no JSON either.'
  return 'The body is neither a JSON object or list nor an encoding of one that is known here.'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A wrong Content-Encoding is passed over for gzip, whose bytes are known by their look. */
async function undoEncoding({ bytes, content_encoding }: Packed, limit: number): Promise<Uint8Array> {
  const encoding = content_encoding?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity' || isGzip(bytes)) return bytes
  if (encoding === 'gzip' || encoding === 'x-gzip') return bytes
  const undo = ENCODINGS.get(encoding)
  if (!undo) throw invalidPayload('The Content-Encoding is not known here: use gzip, deflate or br.')
  return unzip(undo, bytes, limit)
}

async function unzipIfPacked(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  return isGzip(bytes) ? unzip(ENCODINGS.get('gzip')!, bytes, limit) : bytes
}

async function unzip(undo: Unzip, bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    return await undo(bytes, { maxOutputLength: limit, chunkSize: UNZIP_CHUNK })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw unpackedTooLarge()
    throw invalidPayload('The compressed body cannot be unpacked.')
  }
}

/** Some clients leave the two bytes before the data out. */
async function inflateEither(bytes: Uint8Array, options: Parameters<Unzip>[1]): Promise<Uint8Array> {
  try {
    return await promisify(inflate)(bytes, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error
    return await promisify(inflateRaw)(bytes, options)
  }
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08
}

/**
 * Null when the body is no form. Plain `curl -d` calls everything a form and sendBeacon calls a form plain text, so the
 * first characters decide.
 */
async function readForm(
  bytes: Uint8Array,
  contentType: string | undefined,
  limits: UnpackLimits,
): Promise<Form | null> {
  const type = contentType?.split(';', 1)[0]!.trim().toLowerCase()
  const start = startOf(bytes)
  const isMultipart = type === 'multipart/form-data'
  const isUrlEncoded =
    type === 'application/x-www-form-urlencoded' ? !looksLikeJson(start) : start.startsWith('data=')
  if (!isMultipart && !isUrlEncoded) return null
  if (bytes.length > limits.costly_bytes) throw unpackedTooLarge()
  const fields = await toldAsRefusal(async () =>
    isMultipart ? readMultipart(bytes, contentType!) : readUrlEncoded(utf8(bytes)),
  )
  // Base64 without any field name: what the caller meant is plain.
  if (!isMultipart && !start.includes('=') && !fields.some(([name]) => name === 'data')) return null
  return toForm(fields)
}

function startOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64))
    .toString('latin1')
    .trimStart()
}

async function toldAsRefusal<Fields>(read: () => Promise<Fields>): Promise<Fields> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof FormFault ? invalidPayload(error.message) : error
  }
}

async function toForm(fields: readonly [string, string | File][]): Promise<Form> {
  const [data, compression, api_key] = ['data', 'compression', 'api_key'].map(
    (wanted) => fields.find(([name]) => name === wanted)?.[1] ?? null,
  )
  const textOnly = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    data: required(data instanceof File ? new Uint8Array(await data.arrayBuffer()) : (data ?? null)),
    compression: textOnly(compression),
    api_key: textOnly(api_key),
  }
}

function required<T>(data: T | null): T {
  if (data === null) throw invalidPayload('The form has no field `data`.', 'data')
  return data
}

/** Unpacks gzip once more: it also comes inside base64 and inside forms. */
async function textOf(bytes: Uint8Array, limit: number, charset: string): Promise<string> {
  return new TextDecoder(charset).decode(await unzipIfPacked(bytes, limit))
}

function charsetOf(contentType: string | undefined): string {
  const charset = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).encoding
  } catch {
    return 'utf-8'
  }
}

/** Broken characters become U+FFFD, like lone surrogates: one cut-off text must not cost its sender the whole batch. */
function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function undoPercent(text: string): string {
  if (looksLikeJson(text) || !text.includes('%')) return text
  try {
    return decodeURIComponent(text).trim()
  } catch {
    return text
  }
}

function undoLz(digits: string, limits: UnpackLimits): string {
  if (digits.length > limits.costly_bytes) throw unpackedTooLarge()
  const limit = limits.bytes
  try {
    const text = decompressLz(digits, limit)
    if (text === null) throw invalidPayload('The LZ-string body cannot be unpacked.')
    if (Buffer.byteLength(text) > limit) throw unpackedTooLarge()
    return text
  } catch (error) {
    throw error instanceof LzTooLong ? unpackedTooLarge() : error
  }
}

function looksLikeJson(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[')
}

function unpackedTooLarge() {
  return tooLarge('The unpacked body is larger than is taken here.')
}
