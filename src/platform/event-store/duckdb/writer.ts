// The one writer: everything it is handed becomes one transaction, so that an acknowledged event is on the disk.
import {
  BIGINT,
  DuckDBListValue,
  LIST,
  UUID,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBInstance,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { Copies, Written } from '../event-store.ts'
import { tablesOf } from '../layout.ts'
import { appendDistinctIds, appendEvents, appendGroups, appendPersons, uuidValue } from './append.ts'
import type { EventColumns, ProjectColumns } from './columns.ts'
import { createProjectTables, dropProjectTables, migrateFile, projectsWithTables } from './schema.ts'

const DAY = 86_400_000_000n
const CHECKPOINT_WHEN_IDLE_MS = 2_000
const CHECKPOINT_AT_LEAST_MS = 600_000
// Until then each keeps most of a megabyte in memory, however few its events.
const CHECKPOINT_AFTER_PROJECTS = 100

export class Writer {
  readonly #instance: DuckDBInstance
  #connection: DuckDBConnection
  /** Projects that have tables, and their last position once it is known. */
  readonly #projects = new Map<number, number | null>()
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
      await run(
        this.#connection,
        'UPDATE store_state SET copies_position = $1, inserted_at = make_timestamp($2)',
        [this.#copies_position, this.#inserted_at],
        [BIGINT, BIGINT],
      )
      return written
    })
  }

  async #writeProject({ project_id, events, copies }: ProjectColumns): Promise<Written> {
    await this.#ensureTables(project_id)
    this.#touched.add(project_id)
    const last = await this.#lastSeq(project_id)
    const kept = await this.#withoutDuplicates(project_id, events)
    const { events: table } = tablesOf(project_id)
    await appendEvents(this.#connection, table, events, kept, last + 1, this.#inserted_at)
    await this.#replaceCopies(project_id, copies)
    const last_seq = last + kept.length
    this.#projects.set(project_id, last_seq)
    return { project_id, stored: kept.length, last_seq, inserted_at: this.#inserted_at }
  }

  /** So that a query finds the tables of a project that has no events yet. */
  async makeTables(project_id: number): Promise<void> {
    if (!this.#projects.has(project_id)) await this.#transaction(() => this.#ensureTables(project_id))
  }

  deleteProject(project_id: number): Promise<void> {
    return this.#transaction(async () => {
      for (const sql of dropProjectTables(project_id)) await this.#connection.run(sql)
      if (!this.#deleted.has(project_id)) {
        await run(this.#connection, 'INSERT INTO deleted_project VALUES ($1)', [project_id])
      }
      this.#deleted.add(project_id)
      this.#projects.delete(project_id)
    })
  }

  async close(): Promise<void> {
    // Should it fail, the log holds everything, and the next start replays it.
    await this.#inTurn(() => this.#checkpoint()).catch(() => undefined)
    clearTimeout(this.#idle)
    this.#connection.closeSync()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    this.#idle = setTimeout(() => this.#checkpointSoon(), this.#checkpointDelay()).unref()
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
    for (const id of await projectsWithTables(this.#connection)) this.#projects.set(id, null)
    this.#deleted.clear()
    for (const [id] of await rows(this.#connection, 'SELECT id FROM deleted_project'))
      this.#deleted.add(Number(id))
  }

  async #ensureTables(project_id: number): Promise<void> {
    if (this.#projects.has(project_id)) return
    for (const sql of createProjectTables(project_id)) await this.#connection.run(sql)
    this.#projects.set(project_id, 0)
    this.#touched.add(project_id)
  }

  async #lastSeq(project_id: number): Promise<number> {
    const known = this.#projects.get(project_id)
    if (known !== null && known !== undefined) return known
    const { events } = tablesOf(project_id)
    const [row] = await rows(this.#connection, `SELECT coalesce(max(seq), 0) FROM ${events}`)
    return Number(row![0])
  }

  /** Indexes of the events that the project has neither in its table nor earlier in the batch, a day around. */
  async #withoutDuplicates(project_id: number, events: EventColumns): Promise<number[]> {
    const { uuid, timestamp } = events
    if (uuid.length === 0) return []
    let [first, last] = [timestamp[0]!, timestamp[0]!]
    for (const time of timestamp) {
      if (time < first) first = time
      if (time > last) last = time
    }
    const { events: table } = tablesOf(project_id)
    const stored = await rows(
      this.#connection,
      `SELECT uuid::VARCHAR, epoch_us(timestamp) FROM ${table}
       WHERE timestamp BETWEEN make_timestamp($1) AND make_timestamp($2) AND uuid IN (SELECT unnest($3))`,
      [first - DAY, last + DAY, new DuckDBListValue(uuid.map(uuidValue))],
      [BIGINT, BIGINT, LIST(UUID)],
    )
    const times = new Map<string, bigint[]>()
    const remember = (id: string, time: bigint) => {
      const known = times.get(id)
      if (known) known.push(time)
      else times.set(id, [time])
    }
    for (const [id, time] of stored) remember(id as string, time as bigint)
    return [...uuid.keys()].filter((at) => {
      const time = timestamp[at]!
      const isKnown = times
        .get(uuid[at]!)
        ?.some((other) => (time > other ? time - other : other - time) <= DAY)
      if (!isKnown) remember(uuid[at]!, time)
      return !isKnown
    })
  }

  async #replaceCopies(project_id: number, copies: Copies): Promise<void> {
    const tables = tablesOf(project_id)
    const persons = [...copies.deleted_persons, ...copies.persons.map(({ id }) => id)]
    if (persons.length > 0) {
      const ids = new DuckDBListValue(persons.map(uuidValue))
      const sql = `DELETE FROM ${tables.persons} WHERE id IN (SELECT unnest($1))`
      await run(this.#connection, sql, [ids], [LIST(UUID)])
    }
    await appendPersons(this.#connection, tables.persons, copies.persons)
    if (copies.distinct_ids.length > 0) {
      const ids = new DuckDBListValue(copies.distinct_ids.map(({ distinct_id }) => distinct_id))
      const sql = `DELETE FROM ${tables.distinct_ids} WHERE distinct_id IN (SELECT unnest($1))`
      await run(this.#connection, sql, [ids], [LIST(VARCHAR)])
    }
    await appendDistinctIds(this.#connection, tables.distinct_ids, copies.distinct_ids)
    for (const { index, key } of copies.groups) {
      const sql = `DELETE FROM ${tables.groups} WHERE index = $1 AND key = $2`
      await run(this.#connection, sql, [index, key])
    }
    await appendGroups(this.#connection, tables.groups, copies.groups)
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error')
}

type Values = DuckDBValue[]
type Types = Parameters<DuckDBConnection['run']>[2]

async function run(connection: DuckDBConnection, sql: string, values: Values, types?: Types): Promise<void> {
  await connection.run(sql, values, types)
}

async function rows(
  connection: DuckDBConnection,
  sql: string,
  values: Values = [],
  types?: Types,
): Promise<DuckDBValue[][]> {
  return (await connection.run(sql, values, types)).getRows()
}
