// A stream of things that have a position each: what the client has missed first, then what comes, each once.
import type { Batch } from './inbox.ts'
import type { Connection } from './live-answer.ts'
import type { Message } from './message.ts'
import type { Looked, SharedLooks } from './shared-looks.ts'

/** Messages of the positions up to and including `to`, in order. */
export type Stretch = Batch & { messages: readonly Message[]; to: number }

export type Tail = Looked<Stretch> & {
  /** The position that it has looked at last. */
  readonly seen: number
  /** What a client has missed, or the newest of it behind a message that says so. */
  missed(from: number, to: number): Promise<Stretch>
}

/** `after`: the position that the client has come to; null: it begins now. */
export async function* follow(
  looks: SharedLooks,
  connection: Connection,
  key: string,
  open: () => Tail,
  after: number | null,
): AsyncGenerator<Message> {
  const { looked: tail, inbox } = looks.join<Stretch, Tail>(key, connection, open)
  // All that is looked at later comes through the inbox.
  const { seen } = tail
  let position = after ?? seen
  connection.at(position)
  if (position < seen) {
    yield* (await tail.missed(position, seen)).messages
    position = seen
    connection.at(position)
  }
  for await (const { messages, to } of inbox.batches()) {
    for (const message of messages) if (message.id === undefined || message.id > position) yield message
    position = Math.max(position, to)
    connection.at(position)
  }
}

export function stretch(messages: readonly Message[], to: number): Stretch {
  return { messages, to, bytes: messages.reduce((sum, { data }) => sum + 100 + 2 * data.length, 0) }
}
