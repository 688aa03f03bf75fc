// The token endpoint of a service account: takes the signed statement apart and believes nothing unchecked.
import { randomUUID, verify, type KeyObject } from 'node:crypto'
import type { Exchange, Reply } from '../warehouse/cuttable-server.ts'

type Account = { private_key_id: string; client_email: string }

export function issueToken(
  { method, body, headers }: Exchange,
  key: KeyObject,
  account: Account,
  url: string,
  tokens: Set<string>,
): Reply {
  const form = new URLSearchParams(body.toString())
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const is_right =
    method === 'POST' &&
    headers['content-type'] === 'application/x-www-form-urlencoded' &&
    form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
    verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')) &&
    isHeader(read(header), account) &&
    isClaim(read(claims), account, `${url}/token`)
  if (!is_right) {
    return {
      status: 400,
      body: { error: 'invalid_grant', error_description: `Bad assertion ${form.get('assertion')}` },
    }
  }
  const access_token = randomUUID()
  tokens.add(access_token)
  return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: 3600 } }
}

function read(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
}

function isHeader({ alg, typ, kid }: Record<string, unknown>, account: Account): boolean {
  return alg === 'RS256' && typ === 'JWT' && kid === account.private_key_id
}

function isClaim(
  { iss, scope, aud, iat, exp }: Record<string, unknown>,
  account: Account,
  url: string,
): boolean {
  const now_s = Date.now() / 1000
  return (
    iss === account.client_email &&
    scope === 'https://www.googleapis.com/auth/bigquery' &&
    aud === url &&
    Math.abs(Number(iat) - now_s) < 60 &&
    Number(exp) - Number(iat) <= 3600 &&
    Number(exp) > now_s
  )
}
