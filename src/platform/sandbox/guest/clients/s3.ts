// S3 of aws-sdk 2: objects in and out, signed with version 4.
import { answeredLater } from './answered.ts'
import { sign, type AwsOptions } from './aws-signature.ts'
import { kit } from './kit.ts'

type Options = AwsOptions & { endpoint?: string; s3ForcePathStyle?: boolean }
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
    return answeredLater(this.#put(params), typeof options === 'function' ? options : callback)
  }

  putObject(params: Params, callback?: unknown) {
    return answeredLater(this.#put(params), callback)
  }

  getObject(params: Params, callback?: unknown) {
    const read = async () => {
      const answer = await this.#call('GET', params)
      return { Body: await answer.buffer(), ContentType: answer.headers.get('content-type') ?? undefined }
    }
    return answeredLater(read, callback)
  }

  headObject(params: Params, callback?: unknown) {
    const read = async () => {
      const { headers } = await this.#call('HEAD', params)
      return { ContentLength: Number(headers.get('content-length')), ETag: headers.get('etag') ?? undefined }
    }
    return answeredLater(read, callback)
  }

  deleteObject(params: Params, callback?: unknown) {
    return answeredLater(async () => void (await this.#call('DELETE', params)), callback)
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
    const headers = sign(this.options, { service: 's3', method, host, path, headers: extra, body })
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
}

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
