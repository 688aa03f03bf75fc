// One batch of events on its way into ClickHouse: positions first, then the rows, then the moment at which they are there.
import { randomUUID } from 'node:crypto'
import type { Copied, ProjectWrite, StoredEvent, Written } from '../event-store.ts'
import { isKnown, remember, withoutRepeats, type KnownIds } from '../known-ids.ts'
import type { ClickHouse, Insertion } from './client.ts'
import { storingFault } from './faults.ts'
import { LEASE_S, type Block, type Positions } from './positions.ts'
import { copyRows, eventRow, heldTime, timeText } from './rows.ts'
import { EVENT_COLUMNS } from './tables.ts'
import { closedBatches } from './visible-sql.ts'

const DAY = 86_400_000_000n
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** ClickHouse refuses a value of more than 128 kB (`http_max_field_value_size`): 3,360 uuids. */
const ASKED_AT_ONCE = 2_000

/**
 * So many batches that are not read go with every statement, and those that are closed meanwhile. They fit into an address: a
 * long statement can then be sent as a whole.
 */
const HIDDEN_AT_MOST = 50

/** Set once: what a batch still has to say of one project. */
type Part = ProjectWrite & { block: Block }

/** An event that may be there already. */
type Asked = { project_id: number; uuid: string; time: bigint }

export class Writer {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly positions: Positions,
    /** For one batch: what takes longer than its lease is closed by others. */
    private readonly time_limit_ms = LEASE_S * 1000,
  ) {}

  async write(writes: readonly ProjectWrite[], now: bigint, copied: Copied | null): Promise<Written[]> {
    const offered = joined(writes)
    for (const { events } of offered) assertIds(events)
    const batch = randomUUID()
    const wanted = offered.map(({ project_id, events }) => ({
      project_id,
      uuids: events.map(({ uuid }) => uuid),
    }))
    const signal = AbortSignal.timeout(this.time_limit_ms)
    const { blocks, suspects } = await this.positions.open(batch, wanted, now)
    let isSent = false
    try {
      await this.positions.settled(suspects)
      const given = new Map(blocks.map((block) => [block.project_id, block]))
      const parts = offered.flatMap((write): Part[] => {
        const block = given.get(write.project_id)
        return block ? [{ ...write, block }] : []
      })
      const fresh = await this.#withoutStored(parts, signal)
      // Copies first: an event that is there has its person.
      await this.#insertCopies(batch, fresh, signal)
      isSent = fresh.some(({ events }) => events.length > 0)
      if (isSent) await this.#insertEvents(batch, fresh, signal)
      const stored = new Map(fresh.map(({ project_id, events }) => [project_id, events.length]))
      await this.positions.commit(batch, stored, copied)
      return fresh.map(({ project_id, events, block }) => ({
        project_id,
        stored: events.length,
        last_seq: block.after + events.length,
        inserted_at: block.arrived_at,
      }))
    } catch (error) {
      // Without an answer of PostgreSQL the batch is closed when its time has run out.
      await this.positions.close(batch, isSent).catch(() => undefined)
      throw error
    }
  }

  /** Every batch that may hold one of these events is settled by now. */
  async #withoutStored(parts: readonly Part[], signal: AbortSignal): Promise<Part[]> {
    const asked = parts.flatMap(({ project_id, events }) =>
      events.map(({ uuid, timestamp }): Asked => ({ project_id, uuid, time: heldTime(timestamp) })),
    )
    const hidden = new Set<string>()
    for (const project_id of new Set(asked.map((each) => each.project_id))) {
      for (const batch of await this.#hiddenOf(project_id, signal)) hidden.add(batch)
    }
    const found: unknown[][] = []
    for (let from = 0; from < asked.length; from += ASKED_AT_ONCE) {
      found.push(...(await this.#find(asked.slice(from, from + ASKED_AT_ONCE), signal)))
    }
    const stored: KnownIds = new Map()
    for (const [project_id, uuid, time, batch] of found) {
      if (!hidden.has(String(batch)))
        remember(stored, `${String(project_id)} ${String(uuid)}`, BigInt(String(time)))
    }
    return parts.map((part) => ({
      ...part,
      events: part.events.filter(
        ({ uuid, timestamp }) =>
          !isKnown(stored, `${part.project_id} ${uuid.toLowerCase()}`, heldTime(timestamp)),
      ),
    }))
  }

  /** Nothing is stored while the list is too long and cannot be made shorter: this batch might lengthen it. */
  async #hiddenOf(project_id: number, signal: AbortSignal): Promise<readonly string[]> {
    const hidden = (await this.positions.visible(project_id))?.hidden ?? []
    if (hidden.length > HIDDEN_AT_MOST) {
      await this.positions.handOver(project_id, (batches) =>
        this.#send({
          table: 'closed_batches',
          columns: ['project_id', 'batch'],
          rows: batches.map((batch) => [project_id, batch]),
          token: randomUUID(),
          signal,
        }),
      )
    }
    return hidden
  }

  /** Project, uuid, time and batch of what lies there of these events. */
  async #find(asked: readonly Asked[], signal: AbortSignal): Promise<unknown[][]> {
    const times = asked.map(({ time }) => time)
    const statement = {
      sql: `SELECT project_id, toString(uuid), toUnixTimestamp64Micro(timestamp), toString(batch) FROM events
        WHERE project_id IN {projects:Array(Int64)} AND uuid IN {uuids:Array(UUID)}
        AND timestamp >= toDateTime64({from:String}, 6, 'UTC') AND timestamp <= toDateTime64({to:String}, 6, 'UTC')
        AND batch NOT IN (${closedBatches('IN {projects:Array(Int64)}')})`,
      parameters: [],
      named: {
        projects: [...new Set(asked.map(({ project_id }) => project_id))],
        uuids: asked.map(({ uuid }) => uuid),
        from: timeText(times.reduce((least, time) => (time < least ? time : least)) - DAY),
        to: timeText(times.reduce((most, time) => (time > most ? time : most)) + DAY),
      },
    }
    return await this.clickhouse.rows(statement, { signal }).catch((error: unknown) => {
      throw storingFault(error)
    })
  }

  async #insertCopies(batch: string, parts: readonly Part[], signal: AbortSignal): Promise<void> {
    const copies = new Map<string, { columns: readonly string[]; rows: unknown[][] }>()
    for (const { block, ...write } of parts) {
      for (const { table, columns, rows } of copyRows(block, write)) {
        const before = copies.get(table)?.rows ?? []
        copies.set(table, { columns, rows: [...before, ...rows] })
      }
    }
    for (const [table, { columns, rows }] of copies) {
      if (rows.length > 0) await this.#send({ table, columns, rows, token: batch, signal })
    }
  }

  async #insertEvents(batch: string, parts: readonly Part[], signal: AbortSignal): Promise<void> {
    const rows = parts.flatMap(({ events, block }) =>
      events.map((event, index) => eventRow(event, block, block.after + index + 1, batch)),
    )
    await this.#send({ table: 'events', columns: EVENT_COLUMNS, rows, token: batch, signal })
  }

  async #send(insertion: Insertion): Promise<void> {
    await this.clickhouse.insert(insertion).catch((error: unknown) => {
      throw storingFault(error)
    })
  }
}

/** One part for each project; of the same event the first stays. */
function joined(writes: readonly ProjectWrite[]): ProjectWrite[] {
  const by_project = new Map<number, ProjectWrite>()
  for (const write of writes) {
    const before = by_project.get(write.project_id)
    by_project.set(write.project_id, before ? both(before, write) : write)
  }
  return [...by_project.values()].map((write) => ({ ...write, events: withoutRepeats(write.events) }))
}

function both(first: ProjectWrite, second: ProjectWrite): ProjectWrite {
  return {
    project_id: first.project_id,
    ...(second.head === undefined ? {} : { head: second.head }),
    events: [...first.events, ...second.events],
    persons: [...first.persons, ...second.persons],
    deleted_persons: [...first.deleted_persons, ...second.deleted_persons],
    distinct_ids: [...first.distinct_ids, ...second.distinct_ids],
    groups: [...first.groups, ...second.groups],
  }
}

function assertIds(events: readonly StoredEvent[]): void {
  const wrong = events.find(({ uuid }) => !UUID.test(uuid))
  if (wrong) throw new Error(`${wrong.uuid} is no uuid`)
}
