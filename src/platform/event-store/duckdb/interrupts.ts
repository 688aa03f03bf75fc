// Stops what runs on a connection when nobody wants it any more. DuckDB loses an interrupt that comes between two steps
// of a statement, so it is repeated until the statement has ended.
import type { DuckDBConnection } from '@duckdb/node-api'

const EVERY_MS = 20

export class Interrupts {
  #repeat: NodeJS.Timeout | undefined

  constructor(
    private readonly connection: DuckDBConnection,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', this.begin, { once: true })
  }

  /** Also before the signal does. */
  readonly begin = (): void => {
    if (this.#repeat) return
    this.connection.interrupt()
    this.#repeat = setInterval(() => this.connection.interrupt(), EVERY_MS)
  }

  /** To be called once the statement has ended. */
  end(): void {
    clearInterval(this.#repeat)
    this.signal.removeEventListener('abort', this.begin)
  }
}
