// Events and copies as rows for ClickHouse, in the order of their columns.
import { formatMicros } from '../../../lib/microseconds.ts'
import type { ProjectWrite, StoredEvent } from '../event-store.ts'
import type { Block } from './positions.ts'
import { DISTINCT_ID_COLUMNS, GROUP_COLUMNS, PERSON_COLUMNS } from './tables.ts'

/** What ClickHouse's times can hold; what lies beyond is stored as the nearest of them. */
export const FIRST_TIME = BigInt(Date.parse('1900-01-01T00:00:00Z')) * 1000n
export const LAST_TIME = BigInt(Date.parse('2299-12-31T23:59:59Z')) * 1000n

/** Within the times that a table can hold. */
export function heldTime(micros: bigint): bigint {
  if (micros < FIRST_TIME) return FIRST_TIME
  return micros > LAST_TIME ? LAST_TIME : micros
}

/** `2026-03-01 12:00:00.123456`, in UTC. */
export function timeText(micros: bigint): string {
  return formatMicros(heldTime(micros)).replace('T', ' ').slice(0, -1)
}

/** In the order of EVENT_COLUMNS. */
export function eventRow(event: StoredEvent, block: Block, seq: number, batch: string): unknown[] {
  return [
    block.project_id,
    seq,
    batch,
    timeText(block.arrived_at),
    event.uuid,
    event.event,
    event.distinct_id,
    timeText(event.timestamp),
    timeText(event.created_at),
    event.elements_chain,
    event.has_person ? 0 : 1,
    event.person_id,
    event.person_properties,
    event.properties,
    ...event.hot,
  ]
}

export type CopyRows = { table: string; columns: readonly string[]; rows: unknown[][] }

/** `change` tells which of two copies is the newer: the state of the project that they are of. */
export function copyRows({ project_id, arrived_at }: Block, copies: ProjectWrite): CopyRows[] {
  const change = String(copies.head ?? 0)
  const changed_at = timeText(arrived_at)
  const persons = copies.persons.map(({ id, created_at, is_identified, properties, version }) => [
    project_id,
    id,
    timeText(created_at),
    is_identified,
    properties,
    version,
    changed_at,
    change,
    0,
  ])
  const deleted = copies.deleted_persons.map((id) => [
    project_id,
    id,
    timeText(0n),
    false,
    '{}',
    0,
    changed_at,
    change,
    1,
  ])
  const distinct_ids = copies.distinct_ids.map(({ distinct_id, person_id, version }) => [
    project_id,
    distinct_id,
    person_id,
    version,
    changed_at,
    change,
  ])
  const groups = copies.groups.map(({ index, key, created_at, properties }) => [
    project_id,
    index,
    key,
    timeText(created_at),
    properties,
    change,
  ])
  return [
    { table: 'persons', columns: PERSON_COLUMNS, rows: [...persons, ...deleted] },
    { table: 'person_distinct_ids', columns: DISTINCT_ID_COLUMNS, rows: distinct_ids },
    { table: 'groups', columns: GROUP_COLUMNS, rows: groups },
  ]
}
