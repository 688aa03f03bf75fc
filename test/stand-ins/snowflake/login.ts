// Who may log in at Snowflake's stand-in: by password, or by a statement signed with the key.
import { createHash, createPublicKey, verify } from 'node:crypto'

export type Account = { name: string; user: string; password: string; public_key: string }

export function isLogin(data: Record<string, unknown>, account: Account): boolean {
  if (data.ACCOUNT_NAME !== account.name || data.LOGIN_NAME !== account.user) return false
  if (data.AUTHENTICATOR === 'SNOWFLAKE_JWT') return isSigned(String(data.TOKEN), account)
  return data.PASSWORD === account.password
}

function isSigned(token: string, { name, user, public_key }: Account): boolean {
  const key = createPublicKey(public_key)
  const [header = '', claims = '', signature = ''] = token.split('.')
  const read = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  const print = createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')
  const subject = `${name}.${user}`.toUpperCase()
  const { iss, sub, exp } = read(claims)
  return (
    read(header).alg === 'RS256' &&
    verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')) &&
    iss === `${subject}.SHA256:${print}` &&
    sub === subject &&
    Number(exp) > Date.now() / 1000
  )
}
