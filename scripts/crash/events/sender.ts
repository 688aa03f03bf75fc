// A client of the capture endpoint as SDKs are: it keeps a batch until it was acknowledged and sends it again otherwise.
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { uuid7 } from '../../../src/lib/uuid.ts'
import type { Random } from '../random.ts'

export type Batch = {
  uuids: string[]
  distinct_ids: string[]
  body: Buffer
  is_gzip: boolean
  is_acknowledged: boolean
}

const MAX_EVENTS = 120
const AGAIN_MS = 100
/** No server is that slow; one that stands still never answers. */
const ANSWER_LIMIT_MS = 300_000

export class Sender {
  url = ''
  answer_limit_ms = ANSWER_LIMIT_MS
  /** Everything ever sent, acknowledged or not. */
  readonly batches: Batch[] = []
  readonly #name: string
  readonly #token: string
  readonly #random: Random
  readonly #fault: (text: string) => void

  constructor(name: string, token: string, random: Random, fault: (text: string) => void) {
    this.#name = name
    this.#token = token
    this.#random = random
    this.#fault = fault
  }

  async work(signal: AbortSignal, pause_ms = 0): Promise<void> {
    while (!signal.aborted) {
      const batch = this.#compose()
      this.batches.push(batch)
      if (!(await this.#send(batch, signal))) return
      if (pause_ms > 0) await sleep(pause_ms)
    }
  }

  /** As clients of many servers do: what fails at one is sent again, to another. Ends once everything is acknowledged. */
  async persist(signal: AbortSignal, nextUrl: () => string, pause_ms: number): Promise<void> {
    this.url = nextUrl()
    for (;;) {
      await this.work(signal, pause_ms)
      for (const batch of this.batches.filter(({ is_acknowledged }) => !is_acknowledged)) {
        while (!(await this.#send(batch))) {
          await sleep(AGAIN_MS)
          this.url = nextUrl()
        }
      }
      if (signal.aborted) return
    }
  }

  /** As an SDK does after its connection broke; gives how many were sent again. */
  async retry(): Promise<number> {
    const open = this.batches.filter((batch) => !batch.is_acknowledged)
    for (const batch of open) {
      // Some of what was acknowledged is sent again too: the acknowledgement may have been lost on its way.
      if (!(await this.#send(batch))) this.#fault(`${this.#name}: a batch could not be sent again`)
    }
    const known = this.batches.filter((batch) => batch.is_acknowledged)
    if (known.length > 0 && !(await this.#send(this.#random.pick(known)))) this.#fault('a repeat was refused')
    return open.length
  }

  #compose(): Batch {
    const count = 1 + this.#random.below(this.#random.chance(70) ? 10 : MAX_EVENTS)
    const now = new Date()
    const events = Array.from({ length: count }, () => this.#event(now))
    const text = JSON.stringify({ api_key: this.#token, batch: events, sent_at: now.toISOString() })
    const is_gzip = this.#random.chance(50)
    return {
      uuids: events.map(({ uuid }) => uuid),
      distinct_ids: events.map(({ distinct_id }) => distinct_id),
      body: is_gzip ? gzipSync(text) : Buffer.from(text),
      is_gzip,
      is_acknowledged: false,
    }
  }

  #event(now: Date) {
    const distinct_id = `${this.#name}-${this.#random.below(200)}`
    const age_ms = this.#random.below(this.#random.chance(90) ? 60_000 : 90 * 86_400_000)
    return {
      uuid: uuid7(now),
      event: this.#random.pick(['$pageview', 'order', '$identify', 'signed up']),
      distinct_id,
      timestamp: new Date(now.getTime() - age_ms).toISOString(),
      properties: {
        $current_url: `https://example.com/${this.#random.below(1000)}`,
        $set: { n: this.#random.below(5) },
      },
    }
  }

  async #send(batch: Batch, signal: AbortSignal | null = null): Promise<boolean> {
    const limit = AbortSignal.timeout(this.answer_limit_ms)
    try {
      const response = await fetch(`${this.url}/batch/`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(batch.is_gzip ? { 'content-encoding': 'gzip' } : {}),
        },
        body: new Uint8Array(batch.body),
        signal: signal === null ? limit : AbortSignal.any([signal, limit]),
      })
      await response.text()
      if (response.status === 200) batch.is_acknowledged = true
      else if (response.status < 500) this.#fault(`${this.#name}: capture answered ${response.status}`)
      return response.status === 200
    } catch {
      return false
    }
  }
}
