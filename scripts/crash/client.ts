// One client of the load: makes one change after the other until no answer comes, and later closes what was left open.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Change, Organization } from './ledger.ts'
import { nextOperation, type Operation } from './operations.ts'
import type { Random } from './random.ts'
import type { Participant } from './world.ts'

/** The server is gone, or says that its store is: nobody knows what became of the request. */
const NO_ANSWER = Symbol('no answer')
const TIMEOUT_MS = 20_000
const TRIES = 10

export class Client {
  /** Where the server listens since its last start. */
  url = ''
  /** Changes since they were last taken, in the order they were asked for. */
  #changes: Change[] = []
  readonly #own: Organization[] = []
  #marks = 0

  constructor(
    readonly participant: Participant,
    private readonly shared: Organization,
    private readonly random: Random,
    private readonly fault: (text: string) => void,
  ) {}

  get own(): readonly Organization[] {
    return this.#own
  }

  takeChanges(): Change[] {
    return this.#changes.splice(0)
  }

  /** Until the server falls silent, or the signal. */
  async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const operation = this.#next()
      const key = operation.method === 'POST' ? randomUUID() : null
      const change: Change = {
        ...operation,
        state: 'open',
        again: key === null ? null : () => this.#again(operation, key),
      }
      this.#changes.push(change)
      const answers = await Promise.all(
        // An impatient client sends the same request twice.
        Array.from({ length: key !== null && this.random.chance(15) ? 2 : 1 }, () =>
          this.#send(operation, key),
        ),
      )
      const answered = answers.filter((answer) => answer !== NO_ANSWER)
      if (answered[0] === undefined || !this.close(change, answered[0])) return
      if (answered.some((answer) => JSON.stringify(answer) !== JSON.stringify(answered[0]))) {
        this.fault(`${operation.what}: sent twice under one Idempotency-Key, answered differently`)
      }
      if (answered.length < answers.length) return
    }
  }

  /** Enters what an answer says; an answer that is no success is a fault, since nothing asked for is forbidden. */
  close(change: Change, answer: Answer): boolean {
    if (answer.status >= 300) {
      this.fault(`${change.what}: answered ${answer.status} ${JSON.stringify(answer.body)}`)
      return false
    }
    change.state = 'answered'
    change.apply(answer.body ?? {}, null)
    return true
  }

  #next(): Operation {
    const { name, home } = this.participant
    return nextOperation({
      random: this.random,
      newMark: () => `${name}-${++this.#marks}`,
      home,
      shared: this.shared,
      own: this.#own,
      isMine: (mark) => mark.startsWith(`${name}-`),
    })
  }

  async #again(operation: Operation, key: string): Promise<Answer> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const answer = await this.#send(operation, key)
      if (answer !== NO_ANSWER) return answer
      await sleep(100)
    }
    throw new Error(`${operation.what}: no answer to the repeated request either`)
  }

  async #send({ method, path, body }: Operation, key: string | null): Promise<Answer | typeof NO_ANSWER> {
    const isSignUp = path.startsWith('/api/signup/')
    try {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          ...(isSignUp ? {} : { authorization: `Bearer ${this.participant.key}` }),
          ...(key === null ? {} : { 'idempotency-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      if (response.status === 503) return NO_ANSWER
      return {
        status: response.status,
        body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
      }
    } catch {
      return NO_ANSWER
    }
  }
}
