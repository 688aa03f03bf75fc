// What a route gives that answers with a stream of server-sent events: how to make its messages, once it is open.
import type { Message } from './message.ts'

/** One open stream, as those see it who feed it. */
export type Connection = {
  /** Aborted when the stream ends, for whatever reason. */
  signal: AbortSignal
  /** Everything up to this position was handed over. It is told with the next sign of life. */
  at(position: number): void
  /** Ends the stream at once: its client does not fetch what it asked for. */
  cut(): void
}

export type LiveAnswer = {
  /** Whose streams it counts among. */
  project_id: number
  /** Called once the stream is open. It ends when this does; what is thrown is told as its last message. */
  messages(connection: Connection): AsyncIterable<Message>
}

/** The answer of a route that declares `messages`. */
export function live(project_id: number, messages: LiveAnswer['messages']) {
  return { status: 200 as const, live: { project_id, messages } }
}
