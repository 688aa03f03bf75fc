// @google-cloud/pubsub: topics, and messages to them.
import { GoogleClient, likeGrpc, type GoogleOptions } from './google.ts'
import { kit } from './kit.ts'

/** In one request. */
const MAX_MESSAGES = 500

type Message = { data?: string | Uint8Array; json?: unknown; attributes?: Record<string, string> }
type Waiting = {
  message: { data: string; attributes?: Record<string, string> }
  resolve(id: string): void
  reject(error: unknown): void
}

export class PubSub {
  readonly #client: GoogleClient

  constructor(options?: GoogleOptions) {
    const scope = 'https://www.googleapis.com/auth/pubsub'
    this.#client = new GoogleClient(options, 'https://pubsub.googleapis.com', scope)
  }

  topic(name: string): Topic {
    return new Topic(this.#client, String(name))
  }
}

class Topic {
  #waiting: Waiting[] = []

  constructor(
    private readonly client: GoogleClient,
    readonly id: string,
  ) {}

  get name(): string {
    return this.id.includes('/') ? this.id : `projects/${this.client.project}/topics/${this.id}`
  }

  async getMetadata(): Promise<[unknown]> {
    return [await this.#call('GET', '')]
  }

  async exists(): Promise<[boolean]> {
    try {
      await this.getMetadata()
      return [true]
    } catch (error) {
      if ((error as { code?: number }).code === 404) return [false]
      throw error
    }
  }

  async create(): Promise<[Topic]> {
    await this.#call('PUT', '', {})
    return [this]
  }

  publish(data: string | Uint8Array, attributes?: Record<string, string>): Promise<string> {
    return this.publishMessage({ data, attributes })
  }

  /** Those published in one go are sent together: a call has a limited number of requests. */
  publishMessage({ data, json, attributes }: Message): Promise<string> {
    const bytes = kit.Buffer.from(json === undefined ? (data ?? '') : JSON.stringify(json))
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) void Promise.resolve().then(() => this.#flush())
      this.#waiting.push({ message: { data: bytes.toString('base64'), attributes }, resolve, reject })
    })
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    for (let at = 0; at < waiting.length; at += MAX_MESSAGES) {
      const some = waiting.slice(at, at + MAX_MESSAGES)
      try {
        const messages = some.map(({ message }) => message)
        const answer = (await this.#call('POST', ':publish', { messages })) as { messageIds?: string[] }
        some.forEach(({ resolve }, index) => resolve(answer.messageIds?.[index] ?? ''))
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
  }

  async #call(method: string, action: string, json?: unknown): Promise<unknown> {
    const path = `/v1/${this.name.split('/').map(encodeURIComponent).join('/')}${action}`
    try {
      return await this.client.call(path, { method, json })
    } catch (error) {
      throw likeGrpc(error)
    }
  }
}
