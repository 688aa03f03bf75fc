// Open connections, by network. A new one makes room for itself by closing one that waits for nothing; only where all are
// at work is it turned away.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { originOf } from '../../lib/network.ts'
import { ApiError } from './errors.ts'
import type { ServerLimits } from './limits.ts'
import { answerOn } from './raw-answer.ts'

/** They speak for many clients: only the limit for all holds for them. */
const PROXIES = 'proxies'

export class Connections {
  /** In the order of their opening. */
  readonly #open = new Map<string, Set<Socket>>()
  /** Requests under way on a connection; it is idle when there are none. */
  readonly #requests = new WeakMap<Socket, number>()
  /** Bytes that its client had fetched when we looked last. */
  readonly #fetched = new WeakMap<Socket, number>()
  #count = 0

  constructor(
    private readonly limits: ServerLimits,
    private readonly isProxy: (address: string) => boolean,
  ) {}

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#admit(socket))
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#addRequests(socket, 1)
      response.once('close', () => this.#addRequests(socket, -1))
    })
    const sweep = setInterval(() => this.#closeStalled(), this.limits.idle_timeout_ms).unref()
    server.on('close', () => clearInterval(sweep))
  }

  /**
   * An answer that nobody fetches holds its memory, and a client may keep a connection for ever by sending blank lines. So
   * only what it fetches counts, unless we owe it an answer.
   */
  #closeStalled(): void {
    for (const socket of [...this.#open.values()].flatMap((open) => [...open])) {
      const fetched = socket.bytesWritten - socket.writableLength
      const isOwedAnswer = this.#isAtWork(socket) && socket.writableLength === 0
      if (!isOwedAnswer && this.#fetched.get(socket) === fetched) socket.destroy()
      this.#fetched.set(socket, fetched)
    }
  }

  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const sender = this.isProxy(address) ? PROXIES : originOf(address).address
    if (!this.#makeRoom(sender)) return turnAway(socket)
    this.#open.set(sender, (this.#open.get(sender) ?? new Set()).add(socket))
    this.#count += 1
    socket.once('close', () => this.#forget(sender, socket))
  }

  /** Whoever has most gives way when there are too many of all. */
  #makeRoom(sender: string): boolean {
    const isFull = sender !== PROXIES && this.#sizeOf(sender) >= this.limits.connections_per_address
    if (isFull) return this.#closeIdle(sender)
    return this.#count < this.limits.connections || this.#closeIdle(this.#largest())
  }

  #largest(): string {
    const senders = [...this.#open.keys()].filter((sender) => sender !== PROXIES)
    return senders.reduce((most, next) => (this.#sizeOf(next) > this.#sizeOf(most) ? next : most), '')
  }

  #sizeOf(sender: string): number {
    return this.#open.get(sender)?.size ?? 0
  }

  /** The one that is open longest. False when all are at work. */
  #closeIdle(sender: string): boolean {
    for (const socket of this.#open.get(sender) ?? []) {
      if (this.#isAtWork(socket)) continue
      this.#forget(sender, socket)
      socket.destroy()
      return true
    }
    return false
  }

  /** Does nothing the second time. */
  #forget(sender: string, socket: Socket): void {
    const open = this.#open.get(sender)
    if (!open?.delete(socket)) return
    this.#count -= 1
    if (open.size === 0) this.#open.delete(sender)
  }

  #isAtWork(socket: Socket): boolean {
    return (this.#requests.get(socket) ?? 0) > 0
  }

  #addRequests(socket: Socket, change: 1 | -1): void {
    this.#requests.set(socket, (this.#requests.get(socket) ?? 0) + change)
  }
}

function turnAway(socket: Socket): void {
  const error = new ApiError(
    'too_many_connections',
    'There are too many connections: try again shortly.',
    null,
    {
      'retry-after': '1',
    },
  )
  answerOn(socket, error)
}
