// S3 of aws-sdk 2: objects in and out, signed with version 4.
import { answered } from './answered.ts'
import { kit } from './kit.ts'

type Options = {
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  credentials?: { accessKeyId?: string; secretAccessKey?: string; sessionToken?: string }
  region?: string
  endpoint?: string
  s3ForcePathStyle?: boolean
}
type Params = { Bucket: string; Key: string; Body?: string | Uint8Array } & {
  [name: string]: string | Uint8Array | undefined
}
type Answer = Awaited<ReturnType<typeof kit.fetch>>

/** Parameters that are headers. */
const HEADERS: Record<string, string> = {
  ACL: 'x-amz-acl',
  CacheControl: 'cache-control',
  ContentEncoding: 'content-encoding',
  ContentType: 'content-type',
  ServerSideEncryption: 'x-amz-server-side-encryption',
  SSEKMSKeyId: 'x-amz-server-side-encryption-aws-kms-key-id',
  StorageClass: 'x-amz-storage-class',
}

export class S3 {
  constructor(private readonly options: Options = {}) {}

  upload(params: Params, options?: unknown, callback?: unknown) {
    return this.#do(this.#put(params), typeof options === 'function' ? options : callback)
  }

  putObject(params: Params, callback?: unknown) {
    return this.#do(this.#put(params), callback)
  }

  getObject(params: Params, callback?: unknown) {
    const read = async () => {
      const answer = await this.#call('GET', params)
      return { Body: await answer.buffer(), ContentType: answer.headers.get('content-type') ?? undefined }
    }
    return this.#do(read, callback)
  }

  headObject(params: Params, callback?: unknown) {
    const read = async () => {
      const { headers } = await this.#call('HEAD', params)
      return { ContentLength: Number(headers.get('content-length')), ETag: headers.get('etag') ?? undefined }
    }
    return this.#do(read, callback)
  }

  deleteObject(params: Params, callback?: unknown) {
    return this.#do(async () => void (await this.#call('DELETE', params)), callback)
  }

  /** Sent at once with a callback, otherwise by `promise()` or `send()`. */
  #do<T>(work: () => Promise<T>, callback: unknown) {
    if (typeof callback === 'function') void answered(work(), callback)
    return { promise: () => work(), send: (then: unknown) => void answered(work(), then) }
  }

  #put = (params: Params) => async () => {
    const answer = await this.#call('PUT', params)
    const { Bucket, Key } = params
    return { Bucket, Key, key: Key, Location: this.#address(params).url, ETag: answer.headers.get('etag') }
  }

  async #call(method: string, params: Params): Promise<Answer> {
    const body = params.Body === undefined ? null : kit.Buffer.from(params.Body)
    const { url, host, path } = this.#address(params)
    const extra: Record<string, string> = {}
    for (const [name, header] of Object.entries(HEADERS)) {
      if (params[name] !== undefined) extra[header] = params[name] as string
    }
    const headers = this.#signed(method, host, path, extra, body)
    const answer = await kit.fetch(url, { method, headers, body })
    if (!answer.ok) throw readError(answer.status, await answer.text())
    return answer
  }

  #address({ Bucket, Key }: Params): { url: string; host: string; path: string } {
    const { region = 'us-east-1', endpoint, s3ForcePathStyle = false } = this.options
    const given = endpoint ?? (region === 'us-east-1' ? 's3.amazonaws.com' : `s3.${region}.amazonaws.com`)
    const [, protocol = 'https://', place = '', folder = ''] =
      /^(https?:\/\/)?([^/]+)(\/.*)?$/.exec(given) ?? []
    // A certificate for `*.s3…` covers no bucket with a dot; an address has no subdomains.
    const isPath = s3ForcePathStyle || Bucket.includes('.') || /^[\d.:[\]]+$/.test(place)
    const host = isPath ? place : `${Bucket}.${place}`
    const key = Key.split('/').map(encodeKey).join('/')
    const path = `${folder.replace(/\/$/, '')}${isPath ? `/${encodeKey(Bucket)}` : ''}/${key}`
    return { url: `${protocol}${host}${path}`, host, path }
  }

  #signed(
    method: string,
    host: string,
    path: string,
    extra: Record<string, string>,
    body: Uint8Array | null,
  ): Record<string, string> {
    const given = { ...this.options, ...this.options.credentials }
    if (!given.accessKeyId || !given.secretAccessKey) throw new Error('Missing credentials in config')
    const at = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
    const region = this.options.region ?? 'us-east-1'
    const scope = `${at.slice(0, 8)}/${region}/s3/aws4_request`
    const sha256 = kit.crypto
      .createHash('sha256')
      .update(body ?? '')
      .digest('hex') as string
    const headers: Record<string, string> = {
      ...extra,
      host,
      'x-amz-content-sha256': sha256,
      'x-amz-date': at,
      ...(given.sessionToken ? { 'x-amz-security-token': given.sessionToken } : {}),
    }
    const names = Object.keys(headers).sort()
    const listed = names.map((name) => `${name}:${headers[name]!.trim()}\n`).join('')
    const request = [method, path, '', listed, names.join(';'), sha256].join('\n')
    const text = ['AWS4-HMAC-SHA256', at, scope, hash(request)].join('\n')
    let key: string | Uint8Array = `AWS4${given.secretAccessKey}`
    for (const part of scope.split('/')) key = hmac(key, part)
    const signature = kit.Buffer.from(hmac(key, text)).toString('hex')
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${given.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
    return headers
  }
}

const hash = (text: string) => kit.crypto.createHash('sha256').update(text).digest('hex') as string
const hmac = (key: string | Uint8Array, text: string) =>
  kit.crypto.createHmac('sha256', key).update(text).digest() as Uint8Array

function encodeKey(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function readError(status: number, xml: string): Error {
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  const error = new Error(part('Message') ?? `HTTP ${status}`)
  return Object.assign(error, { code: part('Code') ?? String(status), statusCode: status })
}
