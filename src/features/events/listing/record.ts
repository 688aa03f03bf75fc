// One event as the API shows it. The text is put together by hand: properties are stored as JSON and go out as they are,
// unread, which is what keeps a page of 50,000 affordable.
import type { FoundPerson } from '../../persons/queries.ts'
import { cellsOfRecord, type Cells } from './csv.ts'
import { parseElements } from './elements.ts'

/** A row of the listing, and the fields of the query it comes from. */
export type EventRow = {
  uuid: string
  event: string
  distinct_id: string
  /** ISO 8601 in UTC with `Z`. */
  timestamp: string
  /** JSON text. */
  properties: string
  elements_chain: string
}

export type PersonsByDistinctId = ReadonlyMap<string, FoundPerson>

const ASKS_FOR_NO_PERSON = /"\$process_person_profile"\s*:\s*false/

/** The header of a CSV without rows. */
export const SCALAR_FIELDS = ['distinct_id', 'elements_chain', 'event', 'id', 'timestamp']

export function recordText(row: EventRow, persons: PersonsByDistinctId): string {
  const person = hasPerson(row) ? persons.get(row.distinct_id) : undefined
  const { properties } = row
  const head = `{"id":"${row.uuid}","distinct_id":${JSON.stringify(row.distinct_id)},"properties":${properties}`
  const middle = `"event":${JSON.stringify(row.event)},"timestamp":"${shownTime(row.timestamp)}"`
  const elements = row.elements_chain === '' ? '[]' : JSON.stringify(parseElements(row.elements_chain))
  const tail = `"elements":${elements},"elements_chain":${JSON.stringify(row.elements_chain)}}`
  return `${head},${middle},"person":${person ? personText(person) : 'null'},${tail}`
}

/** The same record for CSV. */
export function recordCells(row: EventRow, persons: PersonsByDistinctId): Cells {
  return cellsOfRecord(JSON.parse(recordText(row, persons)) as Record<string, unknown>)
}

export function weightOfRow(row: EventRow): number {
  return row.properties.length + row.elements_chain.length + 300
}

/** As PostHog writes it: the offset in digits. */
export function shownTime(timestamp: string): string {
  return timestamp.replace(/Z$/, '+00:00')
}

/** Properties are read only when they seem to say no: the words may stand in some value, too. */
function hasPerson({ properties }: EventRow): boolean {
  if (!ASKS_FOR_NO_PERSON.test(properties)) return true
  return (JSON.parse(properties) as Record<string, unknown>).$process_person_profile !== false
}

function personText({ is_identified, first_distinct_id, properties }: FoundPerson): string {
  return JSON.stringify({ is_identified, distinct_ids: [first_distinct_id], properties })
}
