// The driver of PostgreSQL for servers that users name, and that may be anything: what they send passes a guard, and
// what the driver throws over it ends the connection instead of the process.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { MessageGuard } from './message-guard.ts'

export type StrangersDatabase = pg.ClientConfig & {
  /** Not connected yet. Whoever destroys it stops the client in every state of the protocol. */
  socket: Socket
  /** What the server may send for one statement. */
  max_answer_bytes: number
}

type Listener = (chunk: Buffer) => void
/** The parts of the driver's connection that its types leave out. */
type Listening = { attachListeners(stream: { on(event: string, listener: Listener): unknown }): void }
const Connection = pg.Connection as unknown as new (config: object) => pg.Connection & Listening

class GuardedConnection extends Connection {
  constructor(
    private readonly socket: Socket,
    private readonly max_answer_bytes: number,
    config: object,
  ) {
    super({ ...config, stream: socket })
  }

  /** Called once, with the stream that messages come from: under TLS that is not the socket. */
  override attachListeners(stream: Duplex): void {
    const guard = new MessageGuard(this.max_answer_bytes)
    stream.once('close', () => this.socket.destroy())
    super.attachListeners({
      on: (event, listener) =>
        stream.on(event, event === 'data' ? guarded(stream, guard, listener) : listener),
    })
  }
}

export function clientOfStranger({ socket, max_answer_bytes, ...config }: StrangersDatabase): pg.Client {
  const { ssl, keepAlive, keepAliveInitialDelayMillis } = config
  const connection = new GuardedConnection(socket, max_answer_bytes, {
    ssl,
    keepAlive,
    keepAliveInitialDelayMillis,
  })
  const client = new pg.Client({ ...config, connection } as pg.ClientConfig)
  // The loss of the connection shows in the statement that it hits; without a listener it would end the process.
  client.on('error', () => undefined)
  return client
}

function guarded(stream: Duplex, guard: MessageGuard, listener: Listener): Listener {
  return (chunk) => {
    // What was read before its end still comes.
    if (stream.destroyed) return
    try {
      const messages = guard.take(chunk)
      if (messages) listener(messages)
    } catch (error) {
      stream.destroy(error as Error)
    }
  }
}
