// A run while it goes on: how it stands, whenever that changes, and its log.
import type { Db } from '../../../platform/db/database.ts'
import { follow, stretch, type Stretch, type Tail } from '../../../platform/http/live/follow.ts'
import { live } from '../../../platform/http/live/live-answer.ts'
import type { LogTail } from '../../../platform/http/live/log-tail.ts'
import { message, type Message } from '../../../platform/http/live/message.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import type { LogStreamQuery } from '../logs/schema.ts'
import { followLog } from '../logs/stream.ts'
import type { LogRow, RunRow } from '../rows.ts'
import { presentRun } from './present.ts'
import { getRun } from './read-queries.ts'
import { Run } from './schema.ts'

const TICK_MS = 1_000

export async function streamRun(
  services: Services,
  run: RunRow,
  query: LogStreamQuery,
  request: RequestFacts,
) {
  const { project_id, batch_export_id } = run
  const part = { project_id, batch_export_id, run_id: run.id }
  const { tail, key, after } = await followLog(services, part, query, request)
  const first = await runMessage(services.db, run, services.now())
  return live(project_id, (connection) =>
    asItChanges(
      first,
      follow(services.looks, connection, `run ${key}`, () => new RunTail(services, run, tail), after),
    ),
  )
}

/** Each state once, up to the end. */
async function* asItChanges(first: Message, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  yield first
  let shown = first.data
  for await (const each of messages) {
    if (each.event === 'run' && each.data === shown) continue
    if (each.event === 'run') shown = each.data
    yield each
    if (each.event === 'end') return
  }
}

class RunTail implements Tail {
  readonly tick_ms = TICK_MS
  readonly #services: Services
  readonly #run: RunRow
  readonly #log: LogTail<LogRow>
  #shown: string | null = null
  #is_finished = false

  constructor(services: Services, run: RunRow, log: LogTail<LogRow>) {
    this.#services = services
    this.#run = run
    this.#log = log
  }

  get seen(): number {
    return this.#log.seen
  }

  missed(from: number, to: number): Promise<Stretch> {
    return this.#log.missed(from, to)
  }

  /** It has ended for its streams a look later: the last lines of its log are written beside the end. */
  async look(): Promise<Stretch | null> {
    const { db, now } = this.#services
    const { id, project_id, batch_export_id } = this.#run
    const run = await getRun(db, { project_id, id: batch_export_id }, id)
    const shown = await runMessage(db, run, now())
    const lines = await this.#log.look()
    const isEnd = this.#is_finished && lines === null && !this.#log.is_behind
    const messages = [
      ...(lines?.messages ?? []),
      ...(shown.data === this.#shown ? [] : [shown]),
      ...(isEnd ? [message('end', { reason: 'finished' })] : []),
    ]
    this.#shown = shown.data
    this.#is_finished = run.finished_at !== null
    return messages.length === 0 ? null : stretch(messages, this.#log.seen)
  }
}

async function runMessage(db: Db, run: RunRow, now: Date): Promise<Message> {
  return message('run', Run.parse(await presentRun(db, run, now)))
}
