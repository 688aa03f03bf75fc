// The one writer: everything it is handed becomes one transaction, so that an acknowledged event is on the disk.
import { BIGINT, type DuckDBConnection, type DuckDBInstance } from '@duckdb/node-api'
import type { Written } from '../event-store.ts'
import { tablesOf } from '../layout.ts'
import { appendEvents } from './append.ts'
import type { EventColumns, ProjectColumns } from './columns.ts'
import { replaceCopies } from './copies.ts'
import { withoutRepeats } from './repeats.ts'
import { createProjectTables, dropProjectTables, migrateFile, projectsWithTables } from './schema.ts'
import { isOutOfMemory, rows, run } from './statements.ts'
import { appendEmptyRows, eventBytes, fillVectors, readLastVector, type Vector } from './vectors.ts'

const CHECKPOINT_WHEN_IDLE_MS = 2_000
const CHECKPOINT_AT_LEAST_MS = 600_000
// Until then each keeps most of a megabyte in memory, however few its events.
const CHECKPOINT_AFTER_PROJECTS = 100

export class Writer {
  readonly #instance: DuckDBInstance
  #connection: DuckDBConnection
  /** Projects that have tables, and their last position once it is known. */
  readonly #projects = new Map<number, number | null>()
  /** Of those written to; what was not is read from the table. */
  readonly #vectors = new Map<number, Vector>()
  readonly #deleted = new Set<number>()
  #inserted_at = 0n
  #copies_position = 0n
  /** Writes happen one after another. */
  #queue: Promise<unknown> = Promise.resolve()
  #checkpointed_at = Date.now()
  /** Projects written to since the last checkpoint. */
  readonly #touched = new Set<number>()
  #idle: NodeJS.Timeout | undefined

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance
    this.#connection = connection
  }

  static async open(instance: DuckDBInstance): Promise<Writer> {
    const connection = await instance.connect()
    await migrateFile(connection)
    const writer = new Writer(instance, connection)
    await writer.#readState()
    return writer
  }

  get copies_position(): bigint {
    return this.#copies_position
  }

  write(writes: readonly ProjectColumns[], now: bigint, copies_position: bigint | null): Promise<Written[]> {
    return this.#transaction(async () => {
      if (now > this.#inserted_at) this.#inserted_at = now
      this.#copies_position = copies_position ?? this.#copies_position
      const written: Written[] = []
      for (const write of writes) {
        if (!this.#deleted.has(write.project_id)) written.push(await this.#writeProject(write))
      }
      await this.#keepState()
      return written
    })
  }

  async #writeProject({ project_id, events, copies }: ProjectColumns): Promise<Written> {
    await this.#ensureTables(project_id)
    this.#touched.add(project_id)
    const last = await this.#lastSeq(project_id)
    const kept = await withoutRepeats(this.#connection, project_id, events)
    if (kept.length > 0) await this.#appendEvents(project_id, events, kept, last)
    await replaceCopies(this.#connection, project_id, copies, this.#inserted_at)
    const last_seq = last + kept.length
    this.#projects.set(project_id, last_seq)
    return { project_id, stored: kept.length, last_seq, inserted_at: this.#inserted_at }
  }

  async #appendEvents(
    project_id: number,
    events: EventColumns,
    kept: readonly number[],
    last: number,
  ): Promise<void> {
    const { event_rows } = tablesOf(project_id)
    const begun = await this.#lastVector(project_id)
    const sizes = kept.map((at) => eventBytes(events, at))
    const { runs, vector } = fillVectors(begun, sizes)
    let start = 0
    for (const { end, empty } of runs) {
      const part = kept.slice(start, end)
      await appendEvents(this.#connection, event_rows, events, part, last + start + 1, this.#inserted_at)
      start = end
      if (empty === 0) continue
      const time = events.timestamp[kept[Math.max(end - 1, 0)]!]!
      const like = { seq: last + end, inserted_at: this.#inserted_at, time }
      await appendEmptyRows(this.#connection, event_rows, empty, like)
    }
    this.#vectors.set(project_id, vector)
  }

  async #lastVector(project_id: number): Promise<Vector> {
    const known = this.#vectors.get(project_id)
    if (known) return known
    return readLastVector(this.#connection, tablesOf(project_id).event_rows)
  }

  /** So that a query finds the tables of a project that has no events yet. */
  async makeTables(project_id: number): Promise<void> {
    if (!this.#projects.has(project_id)) await this.#transaction(() => this.#ensureTables(project_id))
  }

  isDeleted(project_id: number): boolean {
    return this.#deleted.has(project_id)
  }

  /** Whatever is written after it arrives at `time` or later: that is durable before the answer is given. */
  positionAt(project_id: number, time: bigint): Promise<number> {
    return this.#transaction(async () => {
      if (time > this.#inserted_at) {
        this.#inserted_at = time
        await this.#keepState()
      }
      return (await this.#firstFrom(project_id, time)) - 1
    })
  }

  lastPosition(project_id: number): Promise<number> {
    return this.#inTurn(() => this.#lastSeq(project_id))
  }

  /** One statement each, and writes may come in between: a list of positions would be looked for in the whole table. */
  async arrivalsOf(project_id: number, positions: readonly number[]): Promise<(Date | null)[]> {
    const arrivals: (Date | null)[] = []
    for (const position of positions) {
      arrivals.push(await this.#inTurn(() => this.#arrivalOf(project_id, position)))
    }
    return arrivals
  }

  deleteProject(project_id: number): Promise<void> {
    return this.#transaction(async () => {
      for (const sql of dropProjectTables(project_id)) await this.#connection.run(sql)
      if (!this.#deleted.has(project_id)) {
        await run(this.#connection, 'INSERT INTO deleted_project VALUES ($1)', [project_id])
      }
      this.#deleted.add(project_id)
      this.#projects.delete(project_id)
      this.#vectors.delete(project_id)
    })
  }

  /** In its turn: a connection that is closed under its statement never answers again. */
  close(): Promise<void> {
    clearTimeout(this.#idle)
    return this.#inTurn(async () => {
      // Should it fail, the log holds everything, and the next start replays it.
      await this.#checkpoint().catch(() => undefined)
      this.#connection.closeSync()
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }

  /** When nobody writes for a while; under constant load every ten minutes all the same. */
  #checkpointDelay(): number {
    const due = this.#checkpointed_at + CHECKPOINT_AT_LEAST_MS - Date.now()
    return Math.max(0, Math.min(CHECKPOINT_WHEN_IDLE_MS, due))
  }

  #checkpointSoon(): void {
    this.#queue = this.#queue.then(() => this.#checkpoint()).catch(() => undefined)
  }

  /** Moves what was written from the log into the tables, so that the next start need not replay it. */
  async #checkpoint(): Promise<void> {
    await this.#connection.run('CHECKPOINT')
    this.#checkpointed_at = Date.now()
    this.#touched.clear()
  }

  #transaction<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#checkpointSoon(), this.#checkpointDelay()).unref()
    return this.#inTurn(async () => {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (!isOutOfMemory(error)) throw error
        // What was not moved into the file yet takes the room.
        await this.#checkpoint()
        return await this.#attempt(work)
      }
    })
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      await this.#connection.run('BEGIN')
      const result = await work()
      await this.#connection.run('COMMIT')
      if (this.#touched.size >= CHECKPOINT_AFTER_PROJECTS) this.#checkpointSoon()
      return result
    } catch (error) {
      await this.#rollBack()
      throw error
    }
  }

  /** A connection that cannot even do that is of no more use. */
  async #rollBack(): Promise<void> {
    try {
      await this.#connection.run('ROLLBACK')
    } catch (error) {
      if (!/no transaction is active/.test(String(error))) {
        this.#connection.closeSync()
        this.#connection = await this.#instance.connect()
      }
    }
    await this.#readState()
  }

  /** What the file says: at the start, and after a failure, when what is remembered may be ahead of it. */
  async #readState(): Promise<void> {
    const [state] = await rows(
      this.#connection,
      'SELECT copies_position, epoch_us(inserted_at) FROM store_state',
    )
    this.#copies_position = state![0] as bigint
    this.#inserted_at = state![1] as bigint
    this.#projects.clear()
    this.#vectors.clear()
    for (const id of await projectsWithTables(this.#connection)) this.#projects.set(id, null)
    this.#deleted.clear()
    for (const [id] of await rows(this.#connection, 'SELECT id FROM deleted_project'))
      this.#deleted.add(Number(id))
  }

  async #keepState(): Promise<void> {
    await run(
      this.#connection,
      'UPDATE store_state SET copies_position = $1, inserted_at = make_timestamp($2)',
      [this.#copies_position, this.#inserted_at],
      [BIGINT, BIGINT],
    )
  }

  async #ensureTables(project_id: number): Promise<void> {
    if (this.#projects.has(project_id)) return
    for (const sql of createProjectTables(project_id)) await this.#connection.run(sql)
    this.#projects.set(project_id, 0)
    this.#touched.add(project_id)
  }

  async #lastSeq(project_id: number): Promise<number> {
    const known = this.#projects.get(project_id)
    if (known === undefined) return 0
    if (known !== null) return known
    const { events } = tablesOf(project_id)
    const [row] = await rows(this.#connection, `SELECT coalesce(max(seq), 0) FROM ${events}`)
    return Number(row![0])
  }

  async #arrivalOf(project_id: number, position: number): Promise<Date | null> {
    if (!this.#projects.has(project_id)) return null
    const [row] = await rows(
      this.#connection,
      `SELECT epoch_ms(inserted_at) FROM ${tablesOf(project_id).events} WHERE seq = $1`,
      [BigInt(position)],
      [BIGINT],
    )
    return row ? new Date(Number(row[0])) : null
  }

  /** The first position that arrived at `time` or later, or the one to be given next: times never run backwards. */
  async #firstFrom(project_id: number, time: bigint): Promise<number> {
    if (!this.#projects.has(project_id)) return 1
    // Older row groups are passed over by their bounds, which a search for the last one before would have to read.
    const [row] = await rows(
      this.#connection,
      `SELECT min(seq) FROM ${tablesOf(project_id).events} WHERE inserted_at >= make_timestamp($1)`,
      [time],
      [BIGINT],
    )
    const first = row![0]
    return first === null ? (await this.#lastSeq(project_id)) + 1 : Number(first)
  }
}
