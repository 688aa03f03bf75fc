// From the bytes of a request to a plain value: size, media type, encoding, depth and hostile content are settled here.
import type { FastifyRequest } from 'fastify'
import { FormFault, readMultipart, readUrlEncoded } from '../../lib/form.ts'
import { BoundPassed, parseBounded } from '../../lib/json-bounds.ts'
import { ApiError, invalid } from './errors.ts'

/**
 * What arrived, and how many bytes the path takes. Whether it was too much is only said once the caller is known to be
 * allowed here.
 */
export type RawBody = { bytes: Buffer; is_too_large: boolean; limit?: number }

/** A file in a form, as routes that take files get it. */
export class UploadedFile {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly bytes: Buffer,
  ) {}
}

const MAX_DEPTH = 64
// No route takes more than half as many, and checking them all holds the main thread for some milliseconds.
const MAX_VALUES = 20_000
// Forms cost several times as much as JSON of the same size, and files come in the other kind.
const MAX_URLENCODED = 128 * 1024
/** What a route says of the forms it takes. */
type FormRules = { takes_files?: boolean | undefined; max_form_bytes?: number | undefined }

const FORBIDDEN_KEY = '__proto__'

// A client that is still sending may never see an early answer, so a body is read to its end up to this many times the
// limit, keeping none of it.
const DRAINED_TIMES = 32

const NOTHING: RawBody = { bytes: Buffer.alloc(0), is_too_large: false }

/** Throws 503 when bodies of this sender already take up the room it has; what it sends is then read, not kept. */
export function readRawBody({ raw: stream, work }: FastifyRequest, limit: number): Promise<RawBody> {
  const { 'content-length': length, 'transfer-encoding': encoding } = stream.headers
  if (encoding === undefined && (length === undefined || length === '0')) return Promise.resolve(NOTHING)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let refusal: unknown = null
    const settle = () =>
      refusal === null
        ? resolve({ bytes: Buffer.concat(chunks), is_too_large: size > limit, limit })
        : reject(refusal)
    const forget = () => {
      chunks.length = 0
      work?.drop()
    }
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) forget()
      else if (refusal === null) {
        try {
          work?.keep(chunk.length)
          chunks.push(chunk)
        } catch (error) {
          refusal = error
          forget()
        }
      }
      if (size > limit * DRAINED_TIMES) settle()
    })
    stream.on('end', settle)
    // The client went away in the middle: no fault of ours or of a store, whatever the code of the error.
    stream.on('error', () => reject(unreadable('The body ended early.')))
  })
}

export async function parseBody(
  raw: RawBody,
  contentType: string | undefined,
  encoding: string | undefined,
  { takes_files = false, max_form_bytes = MAX_URLENCODED }: FormRules = {},
): Promise<unknown> {
  if (raw.is_too_large)
    throw new ApiError('request_too_large', `The body is larger than this path accepts: ${raw.limit} bytes.`)
  if (raw.bytes.length === 0) return {}
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Compressed bodies are not accepted here.')
  }
  const value = await decode(raw.bytes, contentType, takes_files, max_form_bytes)
  assertHarmless(value, [])
  return value
}

async function decode(
  bytes: Buffer,
  contentType: string | undefined,
  takes_files: boolean,
  max_form_bytes: number,
): Promise<unknown> {
  const type = contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? 'application/json'
  if (type === 'application/json' || type.endsWith('+json')) return parseJson(bytes)
  if (type === 'application/x-www-form-urlencoded') return parseUrlEncoded(bytes, max_form_bytes)
  if (type === 'multipart/form-data') return parseMultipart(bytes, contentType!, takes_files)
  throw new ApiError('unsupported_media_type', 'Send JSON (Content-Type: application/json) or form data.')
}

function parseJson(bytes: Buffer): unknown {
  const text = utf8(bytes)
  if (text.trim() === '') return {}
  try {
    return parseJsonText(text)
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable('The body is not valid JSON.') : error
  }
}

/** JSON that a body is, or holds in one of its texts. Throws ApiError for too much of it, SyntaxError where it is none. */
export function parseJsonText(text: string): unknown {
  try {
    return parseBounded(text, { depth: MAX_DEPTH, values: MAX_VALUES })
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error
    if (error.bound === 'depth') throw tooDeep()
    throw new ApiError('request_too_large', `JSON may hold ${MAX_VALUES} values at most.`)
  }
}

export function parseUrlEncoded(bytes: Buffer, max_bytes = MAX_URLENCODED): Record<string, string> {
  if (bytes.length > max_bytes)
    throw new ApiError('request_too_large', 'The form is too large: send JSON instead.')
  const text = utf8(bytes)
  // What curl sends as a form unless it is told otherwise.
  if (/^\s*[{[]/.test(text))
    throw new ApiError(
      'unsupported_media_type',
      'This form holds JSON: send it with the header Content-Type: application/json.',
    )
  try {
    return Object.fromEntries(readUrlEncoded(text))
  } catch (error) {
    throw error instanceof FormFault ? unreadable(error.message) : error
  }
}

/** Files are left out where none are taken. */
async function parseMultipart(bytes: Buffer, contentType: string, takes_files: boolean): Promise<unknown> {
  try {
    const form = await readMultipart(bytes, contentType)
    const fields = form.filter(([, value]) => takes_files || typeof value === 'string')
    return Object.fromEntries(
      await Promise.all(
        fields.map(async ([key, value]) => [key, typeof value === 'string' ? value : await uploaded(value)]),
      ),
    )
  } catch (error) {
    throw error instanceof FormFault ? unreadable(error.message) : error
  }
}

async function uploaded(file: File): Promise<UploadedFile> {
  return new UploadedFile(file.name, file.type, Buffer.from(await file.arrayBuffer()))
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unreadable('The body is not valid UTF-8.')
  }
}

function tooDeep(): ApiError {
  return invalid(null, 'invalid_input', `JSON may be nested ${MAX_DEPTH} levels deep at most.`)
}

function unreadable(detail: string): ApiError {
  return new ApiError('parse_error', detail)
}

/**
 * PostgreSQL refuses NUL, JSON cannot carry lone surrogates, and deep nesting breaks what would echo it. Calls itself no
 * deeper than the limit it holds.
 */
export function assertHarmless(value: unknown, path: PropertyKey[]): void {
  if (value instanceof UploadedFile) return assertHarmless(`${value.name}${value.type}`, path)
  if (typeof value === 'string' && !isStorableText(value)) {
    throw invalid(attrOf(path), 'invalid_input', 'Text may not hold NUL or broken characters.')
  }
  if (typeof value !== 'object' || value === null) return
  if (path.length >= MAX_DEPTH) throw tooDeep()
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (typeof key === 'string' && (key === FORBIDDEN_KEY || !isStorableText(key))) {
      throw invalid(attrOf(path), 'invalid_input', 'The body has a field name that is not allowed.')
    }
    path.push(key)
    assertHarmless(inner, path)
    path.pop()
  }
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Nested names are joined with two underscores: `destination__config__bucket_name`, `4__target_email`. */
export function attrOf(path: readonly PropertyKey[]): string | null {
  return path.length === 0 ? null : path.map(String).join('__')
}
