// What a key may be limited to, and until when.
import type { Db } from '../../platform/db/database.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import { areOrganizationsInReach, areProjectsInReach, isClosedEverywhere } from './queries.ts'
import type { KeyFields } from './schema.ts'

export async function assertLimitsInReach(
  db: Db,
  owner: { user_id: number } | { organization_id: string },
  fields: KeyFields,
): Promise<void> {
  const { scoped_organizations: organizations = [], scoped_teams: projects = [] } = fields
  if (
    organizations.length > 0 &&
    'user_id' in owner &&
    !(await areOrganizationsInReach(db, owner.user_id, organizations))
  ) {
    throw invalid(
      'scoped_organizations',
      'invalid_input',
      'A key can only be limited to organizations you belong to, and that let you use personal API keys.',
    )
  }
  if (projects.length > 0 && !(await areProjectsInReach(db, owner, projects))) {
    throw invalid(
      'scoped_teams',
      'invalid_input',
      'A key can only be limited to projects that you have access to.',
    )
  }
}

/** A key that would open nothing is not handed out: whoever forbids personal keys does not want them lying about. */
export async function assertOpensSomething(db: Db, userId: number, limits: KeyFields): Promise<void> {
  if (!(await isClosedEverywhere(db, userId, limits))) return
  throw denied('Your organization does not let members use personal API keys: ask an admin.')
}

/** A new value for a key that has expired would open nothing either. */
export function assertExpiryAhead(fields: Pick<KeyFields, 'expires_at'>, now: Date): void {
  if (fields.expires_at && fields.expires_at <= now) {
    throw invalid('expires_at', 'invalid_input', 'The expiry must lie in the future.')
  }
}
