// What is being worked on, and for whom: requests and the bytes of their bodies, by network. One sender never takes up all
// of the room, so the others still find some.
import type { FastifyInstance } from 'fastify'
import { originOf } from '../../lib/network.ts'
import { ApiError } from './errors.ts'

type UnderwayLimits = {
  requests_per_address: number
  bytes: number
  bytes_per_address: number
}

// A dozen of the largest bodies, and a few of them from one address.
const MAX_BYTES = 256 * 1024 * 1024
const MAX_BYTES_PER_ADDRESS = 64 * 1024 * 1024
/** Whoever watches over the server asks from an address that may have a lot under way. */
const ALWAYS_ANSWERED = new Set(['/_livez', '/_readyz'])

/** A request counts until its handler is done: one whose client went away is still worked on. */
export function countUnderway(app: FastifyInstance, requests_per_address: number): void {
  const underway = new Underway({
    requests_per_address,
    bytes: MAX_BYTES,
    bytes_per_address: MAX_BYTES_PER_ADDRESS,
  })
  app.decorateRequest('work', null)
  app.addHook('onRequest', (request, _reply, done) => {
    if (ALWAYS_ANSWERED.has(request.url)) return done()
    try {
      request.work = underway.begin(originOf(request.ip).address)
      done()
    } catch (error) {
      done(error as ApiError)
    }
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.work?.end()
    request.work = null
    done()
  })
}

type Held = { requests: number; bytes: number }

class Underway {
  readonly #senders = new Map<string, Held>()
  #bytes = 0

  constructor(private readonly limits: UnderwayLimits) {}

  /** Throws 503 when the sender already has as much under way as it may. */
  begin(sender: string): Work {
    const held = this.#senders.get(sender) ?? { requests: 0, bytes: 0 }
    if (held.requests >= this.limits.requests_per_address) throw busy()
    held.requests += 1
    this.#senders.set(sender, held)
    let kept = 0
    const add = (bytes: number) => {
      kept += bytes
      held.bytes += bytes
      this.#bytes += bytes
    }
    return {
      keep: (bytes) => {
        const { bytes: all, bytes_per_address } = this.limits
        if (held.bytes + bytes > bytes_per_address || this.#bytes + bytes > all) throw busy()
        add(bytes)
      },
      drop: () => add(-kept),
      end: () => {
        add(-kept)
        held.requests -= 1
        if (held.requests === 0) this.#senders.delete(sender)
      },
    }
  }
}

/** One request. */
export type Work = {
  /** Takes room for bytes of its body, or throws 503. */
  keep(bytes: number): void
  /** Gives back the room for all of them. */
  drop(): void
  /** Called once. */
  end(): void
}

/** What is under way from one address is done within a second or so, or it was refused. */
function busy(): ApiError {
  return new ApiError(
    'too_many_requests_underway',
    'Too many requests of this address are being worked on: try again shortly.',
    null,
    { 'retry-after': '1' },
  )
}
