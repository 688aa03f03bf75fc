// Rows of errors → their JSON in the API.
import type { ErrorRow, ErrorTypeRow } from './queries.ts'

export function presentErrorType({ error_type, count, last_seen }: ErrorTypeRow) {
  return { error_type, count, last_seen: last_seen.toISOString() }
}

export function presentError({ id, timestamp, error_type, details }: ErrorRow) {
  return { timestamp: timestamp.toISOString(), error_uuid: id, error_type, error_details: details }
}
