// JSON Web Tokens as anybody may make them: rightly signed, wrongly, or not at all.
import { constants, createHmac, sign, type KeyObject } from 'node:crypto'

type Json = Record<string, unknown>

/** By `alg` of the header; a text is the key of HS256, and null leaves the signature out. */
export function makeJwt(header: Json, claims: unknown, key: KeyObject | string | null): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${signatureOf(String(header.alg), input, key)}`
}

function signatureOf(alg: string, input: string, key: KeyObject | string | null): string {
  if (key === null) return ''
  if (typeof key === 'string') return createHmac('sha256', key).update(input).digest('base64url')
  const bytes = Buffer.from(input)
  if (key.asymmetricKeyType === 'ed25519') return sign(null, bytes, key).toString('base64url')
  const hash = `sha${/\d+$/.exec(alg)?.[0] ?? '256'}`
  const padding = alg.startsWith('PS') ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING
  const how =
    key.asymmetricKeyType === 'ec'
      ? { key, dsaEncoding: 'ieee-p1363' as const }
      : { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  return sign(hash, bytes, how).toString('base64url')
}

function encode(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
}
