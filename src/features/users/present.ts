// Row → the embedded User of the API.
import type { EmbeddedUser, User } from './schema.ts'

export function presentUser(row: EmbeddedUser): User {
  return {
    id: row.id,
    uuid: row.uuid,
    distinct_id: row.distinct_id,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    is_email_verified: row.is_email_verified,
    hedgehog_config: row.hedgehog_config ?? {},
  }
}
