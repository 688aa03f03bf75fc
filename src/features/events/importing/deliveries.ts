// Batches of rows on their way to a sink. They are handed over and settled in the order of the file.
import { Refusal } from '../capture/refusal.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { toEvent, type RowPlace } from './map-row.ts'
import type { Reject } from './rejects.ts'
import type { Row } from './rows.ts'
import type { BatchLimit, Sink } from './sink.ts'

/** Rows that are stored or refused, and thus done with. */
export type Delivered = { rows: number; rejects: readonly Reject[] }

export class Batch {
  rows = 0
  bytes = 0
  readonly events: PipelineEvent[] = []
  /** Rows of the events, for those that the sink refuses. */
  readonly sources: Row[] = []
  readonly rejects: Reject[] = []
  readonly #place: Omit<RowPlace, 'line'>
  readonly #limit: BatchLimit

  constructor(place: Omit<RowPlace, 'line'>, limit: BatchLimit) {
    this.#place = place
    this.#limit = limit
  }

  add(row: Row): void {
    this.rows += 1
    this.bytes += row.bytes
    try {
      this.events.push(toEvent(row.read(), { ...this.#place, line: row.line }))
      this.sources.push(row)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.reject(row, error.fault.detail)
    }
  }

  reject(row: Row, reason: string): void {
    this.rejects.push({ line: row.line, reason, text: row.text() })
  }

  isFull(): boolean {
    return this.rows >= this.#limit.events || this.bytes >= this.#limit.bytes
  }
}

export class Deliveries {
  readonly #sink: Sink
  readonly #onDelivered: (delivered: Delivered) => Promise<void>
  readonly #under_way: Promise<Delivered>[] = []

  constructor(sink: Sink, onDelivered: (delivered: Delivered) => Promise<void>) {
    this.#sink = sink
    this.#onDelivered = onDelivered
  }

  /** Waits while as many are under way as the sink takes. */
  async hand(batch: Batch): Promise<void> {
    while (this.#under_way.length >= this.#sink.in_flight) await this.#settleFirst()
    const delivery = deliver(this.#sink, batch)
    // Heard in its turn; until then a failure is not one that nobody hears of.
    delivery.catch(() => undefined)
    this.#under_way.push(delivery)
  }

  async finish(): Promise<void> {
    while (this.#under_way.length > 0) await this.#settleFirst()
  }

  /** After a failure: nothing is under way any more, whatever became of it. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#under_way)
  }

  async #settleFirst(): Promise<void> {
    await this.#onDelivered(await this.#under_way.shift()!)
  }
}

async function deliver(sink: Sink, batch: Batch): Promise<Delivered> {
  if (batch.events.length > 0) {
    for (const { index, reason } of await sink.accept(batch.events, batch.bytes))
      batch.reject(batch.sources[index]!, reason)
  }
  return { rows: batch.rows, rejects: batch.rejects.toSorted((a, b) => a.line - b.line) }
}
