// A service account's access token: a statement signed with its key, exchanged at its token address.
import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { Refused, type DeliveryContext } from '../destination.ts'
import type { BigQueryConfig } from './kind.ts'
import { callWarehouse, keepToken, readToken } from '../warehouse/call.ts'

const SCOPE = 'https://www.googleapis.com/auth/bigquery'
const LIFETIME_S = 3600

export function serviceAccountToken(
  context: Pick<DeliveryContext<BigQueryConfig>, 'config' | 'outbound' | 'signal'>,
): () => Promise<string> {
  const { config, outbound, signal } = context
  return keepToken(async () => {
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertion(config, Math.floor(Date.now() / 1000)),
    })
    const answer = await callWarehouse(outbound, 'The token address', config.token_uri, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal,
    })
    return readToken(answer, 'service account')
  })
}

function assertion(config: BigQueryConfig, now_s: number): string {
  const header = { alg: 'RS256', typ: 'JWT', kid: config.private_key_id }
  const claims = {
    iss: config.client_email,
    scope: SCOPE,
    aud: config.token_uri,
    iat: now_s,
    exp: now_s + LIFETIME_S,
  }
  const signed = `${encoded(header)}.${encoded(claims)}`
  const signature = sign('RSA-SHA256', Buffer.from(signed), readKey(config.private_key))
  return `${signed}.${signature.toString('base64url')}`
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Copied out of a JSON file by hand, a key often still has `\n` for its line breaks. */
function readKey(text: string): KeyObject {
  try {
    const key = createPrivateKey(text.replaceAll(String.raw`\n`, '\n'))
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The error's own text may quote the key.
  }
  throw new Refused('The private key cannot be read. Send it again: an RSA key in PEM form.')
}
