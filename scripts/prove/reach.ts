// How an actor of the simulation reaches destinations: through the turnstile. It stands where the outbound gate stands,
// which every destination is handed.
import type { RunFacts } from '../../src/features/batch-exports/destinations/destination.ts'
import type { OutboundAnswer, OutboundInit } from '../../src/platform/outbound/call.ts'
import type { CheckedAddress } from '../../src/platform/outbound/gate.ts'
import type { Outbound } from '../../src/platform/outbound/outbound.ts'
import type { Places } from './places.ts'
import type { Actor, Turnstile } from './turnstile.ts'

type Surroundings = {
  turnstile: Turnstile
  places: Places
  /** Told before something of a run becomes visible. */
  onShow(run: RunFacts): Promise<void>
}

export class Reach implements Outbound {
  readonly places: Places

  constructor(
    private readonly around: Surroundings,
    private readonly actor: Actor,
  ) {
    this.places = around.places
  }

  static of(outbound: Outbound): Reach {
    if (outbound instanceof Reach) return outbound
    throw new Error('not of this simulation')
  }

  /** Once the signal is given nothing is sent any more. */
  call<T>(label: string, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.around.turnstile.pass({ actor: this.actor, place: 'destination', label }, async () => {
      signal?.throwIfAborted()
      return work()
    })
  }

  show<T>(label: string, run: RunFacts, work: () => T): Promise<T> {
    return this.call(label, async () => {
      await this.around.onShow(run)
      return work()
    })
  }

  async fetch(_url: string, { headers = {}, body = '', signal }: OutboundInit = {}): Promise<OutboundAnswer> {
    const run_id = headers['X-Batch-Export-Run-Id']!
    const sequence = Number(headers['X-Batch-Sequence'])
    const batch = { run_id, sequence, body: Buffer.from(body).toString() }
    await this.call(`post ${sequence} ${run_id}`, () => void this.places.batches.push(batch), signal)
    return { status: 200, headers: {}, body: Buffer.alloc(0) }
  }

  async checkedAddress(): Promise<CheckedAddress> {
    return { address: '127.0.0.1', family: 4 }
  }

  agents(): never {
    throw new Error('nothing is dialled here')
  }

  async close(): Promise<void> {}
}
