// Where a key works. To the API an empty list means no limit, so a choice of none must never be sent.

export type Limits = { scoped_organizations: string[]; scoped_teams: number[] }
export type Where = 'all' | 'organizations' | 'projects'
export type LimitFields = Limits & { where: Where }

export function limitFields({ scoped_organizations, scoped_teams }: Limits): LimitFields {
  const where =
    scoped_teams.length > 0 ? 'projects' : scoped_organizations.length > 0 ? 'organizations' : 'all'
  return { where, scoped_organizations, scoped_teams }
}

/** Limited, but to nothing yet. */
export function isUndecided({ where, scoped_organizations, scoped_teams }: LimitFields): boolean {
  return (
    (where === 'organizations' && scoped_organizations.length === 0) ||
    (where === 'projects' && scoped_teams.length === 0)
  )
}
