// Stops what runs on a connection. DuckDB loses an interrupt that comes between two steps of a statement, so it is
// repeated until whoever began it says that the statement has ended.
import type { DuckDBConnection } from '@duckdb/node-api'

const EVERY_MS = 20

export class Interrupts {
  #repeat: NodeJS.Timeout | undefined

  constructor(private readonly connection: DuckDBConnection) {}

  begin(): void {
    if (this.#repeat) return
    this.connection.interrupt()
    this.#repeat = setInterval(() => this.connection.interrupt(), EVERY_MS)
  }

  end(): void {
    clearInterval(this.#repeat)
  }
}
