// A client that keeps a batch until it is acknowledged, whatever happens to the server meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import { uuid7 } from '../../../src/lib/uuid.ts'
import type { Random } from '../../crash/random.ts'
import { FIELD, UNWANTED, type GuardedProject } from './apps.ts'

type Sent = { uuid: string; event: string }

const MAX_EVENTS = 40
const PAUSE_MS = 40
const AGAIN_MS = 100

export class GuardedSender {
  /** Where the server listens now; null while it does not. */
  url: string | null = null
  readonly project: GuardedProject
  readonly acknowledged: Sent[] = []
  readonly faults: string[] = []
  readonly #random: Random

  constructor(project: GuardedProject, random: Random) {
    this.project = project
    this.#random = random
  }

  async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const batch = this.#compose()
      while (!(await this.#send(batch))) await sleep(AGAIN_MS)
      this.acknowledged.push(...batch)
      await sleep(PAUSE_MS)
    }
  }

  #compose(): Sent[] {
    const count = 1 + this.#random.below(MAX_EVENTS)
    const name = () => (this.#random.chance(10) ? UNWANTED : 'seen')
    return Array.from({ length: count }, () => ({ uuid: uuid7(new Date()), event: name() }))
  }

  async #send(batch: readonly Sent[]): Promise<boolean> {
    const events = batch.map((sent) => ({
      ...sent,
      distinct_id: `person ${this.#random.below(50)}`,
      properties: { [FIELD]: '123-45-6789', kept: true },
    }))
    try {
      const response = await fetch(`${this.url}/batch/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: this.project.token, batch: events }),
      })
      await response.text()
      if (response.status !== 200 && response.status !== 503)
        this.faults.push(`capture answered ${response.status}`)
      return response.status === 200
    } catch {
      return false
    }
  }
}
