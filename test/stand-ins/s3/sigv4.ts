// Signature Version 4, verified over the request as it came: nothing is taken for granted that S3 would check.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { accessDenied, invalidArgument, notImplemented, S3Fault } from './faults.ts'

export type SignedRequest = {
  method: string
  /** As on the request line. */
  target: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export type Keys = { region: string; secrets: ReadonlyMap<string, string>; now: () => Date }

type Authorization = { key: string; date: string; region: string; signed: string[]; signature: string }

const MAX_SKEW_MS = 15 * 60_000
const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED = 'UNSIGNED-PAYLOAD'

/** The access key that signed the request. */
export function verifySignature(request: SignedRequest, keys: Keys): string {
  const authorization = parseAuthorization(request.headers.authorization)
  const secret = keys.secrets.get(authorization.key)
  if (secret === undefined) throw new S3Fault('InvalidAccessKeyId', 403)
  if (authorization.region !== keys.region) throw new S3Fault('AuthorizationHeaderMalformed', 400)
  const instant = checkInstant(request.headers, authorization, keys.now())
  checkSignedHeaders(request.headers, authorization.signed)
  checkPayload(request)

  const scope = `${authorization.date}/${authorization.region}/s3/aws4_request`
  const text = [ALGORITHM, instant, scope, sha256(canonicalRequest(request, authorization.signed))].join('\n')
  const expected = hmac(signingKey(secret, authorization), text)
  const given = Buffer.from(authorization.signature, 'hex')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new S3Fault('SignatureDoesNotMatch', 403)
  }
  return authorization.key
}

function parseAuthorization(header: string | undefined): Authorization {
  if (header === undefined) throw accessDenied('no Authorization header')
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    )
  if (!found) throw new S3Fault('AuthorizationHeaderMalformed', 400)
  const [, key, date, region, signed, signature] = found
  return { key: key!, date: date!, region: region!, signed: signed!.split(';'), signature: signature! }
}

function checkInstant(headers: IncomingHttpHeaders, { date }: Authorization, now: Date): string {
  const text = String(headers['x-amz-date'] ?? '')
  const found = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text)
  if (!found || text.slice(0, 8) !== date) throw accessDenied('no valid x-amz-date')
  const [, year, month, day, hour, minute, second] = found.map(Number)
  const instant = Date.UTC(year!, month! - 1, day, hour, minute, second)
  if (Math.abs(instant - now.getTime()) > MAX_SKEW_MS) throw new S3Fault('RequestTimeTooSkewed', 403)
  return text
}

function checkSignedHeaders(headers: IncomingHttpHeaders, signed: readonly string[]): void {
  const must = Object.keys(headers).filter(
    (name) => name === 'host' || name === 'content-md5' || name.startsWith('x-amz-'),
  )
  const missing = must.filter((name) => !signed.includes(name))
  if (missing.length > 0) throw accessDenied(`headers that are not signed: ${missing.join(', ')}`)
  if (signed.join() !== signed.toSorted().join()) throw new S3Fault('AuthorizationHeaderMalformed', 400)
}

function checkPayload({ headers, body }: SignedRequest): void {
  const hash = headers['x-amz-content-sha256']
  if (typeof hash !== 'string') throw new S3Fault('MissingSecurityHeader', 400)
  if (hash.startsWith('STREAMING-')) throw notImplemented(hash)
  if (hash !== UNSIGNED && !/^[0-9a-f]{64}$/.test(hash)) throw invalidArgument('x-amz-content-sha256')
  if (hash !== UNSIGNED && hash !== sha256(body)) throw new S3Fault('XAmzContentSHA256Mismatch', 400)
  const md5 = headers['content-md5']
  if (md5 === undefined) return
  if (Buffer.from(String(md5), 'base64').length !== 16) throw new S3Fault('InvalidDigest', 400)
  if (md5 !== createHash('md5').update(body).digest('base64')) throw new S3Fault('BadDigest', 400)
}

function canonicalRequest({ method, target, headers }: SignedRequest, signed: readonly string[]): string {
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  const lines = signed.map((name) => {
    const value = headers[name]
    if (value === undefined) throw new S3Fault('SignatureDoesNotMatch', 403)
    return `${name}:${String(value).trim().replaceAll(/ +/g, ' ')}\n`
  })
  return [
    method,
    encode(decodeURIComponent(path), '/'),
    canonicalQuery(query),
    lines.join(''),
    signed.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n')
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query.split('&').map((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`
  })
  return pairs.toSorted().join('&')
}

/** Every byte but the unreserved ones, as S3 wants it. */
function encode(text: string, kept = ''): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte)
      return /[A-Za-z0-9._~-]/.test(sign) || (kept !== '' && sign === kept)
        ? sign
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function signingKey(secret: string, { date, region }: Authorization): Buffer {
  return [date, region, 's3', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${secret}`))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
