// Signs requests to AWS, version 4. Without a query: none of the clients sends one.
import { kit } from './kit.ts'

type Credentials = { accessKeyId?: string; secretAccessKey?: string; sessionToken?: string }
export type AwsOptions = Credentials & { credentials?: Credentials; region?: string }

type Unsigned = {
  service: string
  method: string
  host: string
  path: string
  headers: Record<string, string>
  body: Uint8Array | null
}

/** The headers to send. */
export function sign(options: AwsOptions, request: Unsigned): Record<string, string> {
  const { service, method, host, path, body } = request
  const given = { ...options, ...options.credentials }
  if (!given.accessKeyId || !given.secretAccessKey) throw new Error('Missing credentials in config')
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${at.slice(0, 8)}/${options.region ?? 'us-east-1'}/${service}/aws4_request`
  const sha256 = kit.crypto
    .createHash('sha256')
    .update(body ?? '')
    .digest('hex') as string
  const headers: Record<string, string> = {
    ...request.headers,
    host,
    'x-amz-content-sha256': sha256,
    'x-amz-date': at,
    ...(given.sessionToken ? { 'x-amz-security-token': given.sessionToken } : {}),
  }
  const names = Object.keys(headers).sort()
  const listed = names.map((name) => `${name}:${headers[name]!.trim()}\n`).join('')
  const canonical = [method, path, '', listed, names.join(';'), sha256].join('\n')
  const text = ['AWS4-HMAC-SHA256', at, scope, hash(canonical)].join('\n')
  let key: string | Uint8Array = `AWS4${given.secretAccessKey}`
  for (const part of scope.split('/')) key = hmac(key, part)
  const signature = kit.Buffer.from(hmac(key, text)).toString('hex')
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${given.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return headers
}

const hash = (text: string) => kit.crypto.createHash('sha256').update(text).digest('hex') as string
const hmac = (key: string | Uint8Array, text: string) =>
  kit.crypto.createHmac('sha256', key).update(text).digest() as Uint8Array
