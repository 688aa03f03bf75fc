// One batch of events on its way into ClickHouse: positions first, then the rows, then the moment at which they are there.
import { randomUUID } from 'node:crypto'
import { groupBy } from '../../../lib/group-by.ts'
import type { Copied, ProjectWrite, StoredEvent, Written } from '../event-store.ts'
import type { ClickHouse } from './client.ts'
import type { Block, Positions } from './positions.ts'
import { copyRows, eventRow, heldTime, timeText } from './rows.ts'
import { EVENT_COLUMNS } from './tables.ts'

const DAY = 86_400_000_000n
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Set once: what a batch still has to say of one project. */
type Part = ProjectWrite & { block: Block }

export class Writer {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly positions: Positions,
  ) {}

  async write(writes: readonly ProjectWrite[], now: bigint, copied: Copied | null): Promise<Written[]> {
    const offered = joined(writes)
    for (const { events } of offered) assertIds(events)
    const batch = randomUUID()
    const wanted = offered.map(({ project_id, events }) => ({
      project_id,
      uuids: events.map(({ uuid }) => uuid),
    }))
    const { blocks, suspects } = await this.positions.open(batch, wanted, now)
    try {
      await this.positions.settled(suspects)
      const given = new Map(blocks.map((block) => [block.project_id, block]))
      const parts = offered.flatMap((write): Part[] => {
        const block = given.get(write.project_id)
        return block ? [{ ...write, block }] : []
      })
      const fresh = await this.#withoutStored(parts)
      await this.#insert(batch, fresh)
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
      await this.positions.close(batch).catch(() => undefined)
      throw error
    }
  }

  /** Every batch that may hold one of these events is settled by now. */
  async #withoutStored(parts: readonly Part[]): Promise<Part[]> {
    const asked = parts.filter(({ events }) => events.length > 0)
    if (asked.length === 0) return [...parts]
    const times = asked.flatMap(({ events }) => events.map(({ timestamp }) => heldTime(timestamp)))
    const hidden: string[] = []
    for (const { project_id } of asked)
      hidden.push(...((await this.positions.visible(project_id))?.hidden ?? []))
    const found = await this.clickhouse.rows({
      sql: `SELECT project_id, toString(uuid), toUnixTimestamp64Micro(timestamp) FROM events
        WHERE project_id IN {projects:Array(Int64)} AND uuid IN {uuids:Array(UUID)}
        AND timestamp >= toDateTime64({from:String}, 6, 'UTC') AND timestamp <= toDateTime64({to:String}, 6, 'UTC')
        AND batch NOT IN (SELECT arrayJoin({hidden:Array(UUID)}))`,
      parameters: [],
      named: {
        projects: asked.map(({ project_id }) => project_id),
        uuids: asked.flatMap(({ events }) => events.map(({ uuid }) => uuid)),
        from: timeText(times.reduce((least, time) => (time < least ? time : least)) - DAY),
        to: timeText(times.reduce((most, time) => (time > most ? time : most)) + DAY),
        hidden,
      },
    })
    const stored = groupBy(found, ([project_id, uuid]) => `${String(project_id)} ${String(uuid)}`)
    return parts.map((part) => ({
      ...part,
      events: part.events.filter(({ uuid, timestamp }) => {
        const same = stored.get(`${part.project_id} ${uuid.toLowerCase()}`) ?? []
        return !same.some(([, , time]) => isWithinDay(BigInt(String(time)), heldTime(timestamp)))
      }),
    }))
  }

  /** Copies first: an event that is there has its person. */
  async #insert(batch: string, parts: readonly Part[]): Promise<void> {
    const copies = new Map<string, { columns: readonly string[]; rows: unknown[][] }>()
    for (const { block, ...write } of parts) {
      for (const { table, columns, rows } of copyRows(block, write)) {
        const before = copies.get(table)?.rows ?? []
        copies.set(table, { columns, rows: [...before, ...rows] })
      }
    }
    const events = parts.flatMap((part) =>
      part.events.map((event, index) => eventRow(event, part.block, part.block.after + index + 1, batch)),
    )
    const insertions = [...copies, ['events', { columns: EVENT_COLUMNS, rows: events }] as const]
    for (const [table, { columns, rows }] of insertions) {
      if (rows.length > 0) await this.clickhouse.insert({ table, columns, rows, token: batch })
    }
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

function withoutRepeats(events: readonly StoredEvent[]): StoredEvent[] {
  const times = new Map<string, bigint[]>()
  return events.filter(({ uuid, timestamp }) => {
    const before = times.get(uuid) ?? []
    if (before.some((time) => isWithinDay(time, timestamp))) return false
    times.set(uuid, [...before, timestamp])
    return true
  })
}

function isWithinDay(one: bigint, other: bigint): boolean {
  return one - other <= DAY && other - one <= DAY
}

function assertIds(events: readonly StoredEvent[]): void {
  const wrong = events.find(({ uuid }) => !UUID.test(uuid))
  if (wrong) throw new Error(`${wrong.uuid} is no uuid`)
}
