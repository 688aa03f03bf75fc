// Row → definition of the API.
import type { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { HOT_PROPERTIES } from '../../platform/event-store/layout.ts'
import { presentUser } from '../users/present.ts'
import { findUsersById } from '../users/queries.ts'
import type { EmbeddedUser } from '../users/schema.ts'
import type {
  EventDefinition,
  EventDefinitionRow,
  PropertyDefinition,
  PropertyDefinitionRow,
} from './schema.ts'

type Users = ReadonlyMap<number, EmbeddedUser>

const READ_FASTER: ReadonlySet<string> = new Set(HOT_PROPERTIES)

/** Those who verified or changed one of them. */
export function usersOf(
  db: Db,
  rows: readonly { verified_by: number | null; updated_by: number | null }[],
): Promise<Users> {
  const ids = rows.flatMap(({ verified_by, updated_by }) => [verified_by, updated_by])
  return findUsersById(db, [...new Set(ids.filter((id) => id !== null))])
}

export function presentEventDefinition(
  row: EventDefinitionRow,
  users: Users,
): z.input<typeof EventDefinition> {
  return {
    ...presentNotes(row, users),
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    volume: Number(row.volume),
    last_updated_at: row.updated_at.toISOString(),
    owner: null,
    created_by: null,
    default_columns: [],
    post_to_slack: false,
    is_action: false,
    action_id: null,
    is_calculating: false,
    last_calculated_at: null,
  }
}

export function presentPropertyDefinition(
  row: PropertyDefinitionRow,
  users: Users,
): z.input<typeof PropertyDefinition> {
  return {
    ...presentNotes(row, users),
    property_type: row.property_type,
    is_numerical: row.property_type === 'Numeric',
    is_seen_on_filtered_events: row.is_seen,
    is_optimized: row.type === 'event' && READ_FASTER.has(row.name),
  }
}

function presentNotes(row: EventDefinitionRow | PropertyDefinitionRow, users: Users) {
  const userOf = (id: number | null) => {
    const user = id === null ? undefined : users.get(id)
    return user ? presentUser(user) : null
  }
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    hidden: row.hidden,
    verified: row.verified,
    verified_at: row.verified_at?.toISOString() ?? null,
    verified_by: userOf(row.verified_by),
    updated_at: row.updated_at.toISOString(),
    updated_by: userOf(row.updated_by),
  }
}
