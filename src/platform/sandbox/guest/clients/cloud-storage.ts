// @google-cloud/storage: files into and out of a bucket.
import { GoogleClient, type GoogleOptions } from './google.ts'
import { kit } from './kit.ts'
import { Collector } from './stream.ts'

export class Storage {
  readonly #client: GoogleClient

  constructor(options?: GoogleOptions) {
    const scope = 'https://www.googleapis.com/auth/devstorage.read_write'
    this.#client = new GoogleClient(options, 'https://storage.googleapis.com', scope)
  }

  bucket(name: string): Bucket {
    return new Bucket(this.#client, String(name))
  }
}

class Bucket {
  constructor(
    private readonly client: GoogleClient,
    readonly name: string,
  ) {}

  file(name: string): File {
    return new File(this.client, this.name, String(name))
  }
}

type SaveOptions = { contentType?: string; metadata?: { contentType?: string } }

class File {
  constructor(
    private readonly client: GoogleClient,
    private readonly bucket: string,
    readonly name: string,
  ) {}

  get #path(): string {
    return `/storage/v1/b/${encodeURIComponent(this.bucket)}/o/${encodeURIComponent(this.name)}`
  }

  createWriteStream(options: SaveOptions = {}): Collector {
    return new Collector((bytes) => this.save(bytes, options))
  }

  async save(data: string | Uint8Array, options: SaveOptions = {}): Promise<void> {
    const content_type = options.contentType ?? options.metadata?.contentType ?? 'application/octet-stream'
    const path = `/upload/storage/v1/b/${encodeURIComponent(this.bucket)}/o?uploadType=media&name=${encodeURIComponent(this.name)}`
    await this.client.call(path, { method: 'POST', body: kit.Buffer.from(data), content_type })
  }

  async exists(): Promise<[boolean]> {
    try {
      await this.client.call(this.#path)
      return [true]
    } catch (error) {
      if ((error as { code?: number }).code === 404) return [false]
      throw error
    }
  }

  async delete(): Promise<void> {
    await this.client.call(this.#path, { method: 'DELETE' })
  }
}
