import { answer, api, type Schema } from '../../api/client'

type Me = Pick<Schema<'Account'>, 'organization' | 'organizations'>

/** Which of somebody's organizations a domain belongs to; the current one where that is not known. */
export async function organizationOf(me: Me, domainId: string | undefined): Promise<string | null> {
  const current = me.organization?.id ?? null
  if (domainId === undefined) return current
  const others = me.organizations.map(({ id }) => id).filter((id) => id !== current)
  for (const organization_id of current === null ? others : [current, ...others]) {
    const { results } = await answer(
      api.GET('/api/organizations/{organization_id}/domains/', {
        params: { path: { organization_id }, query: { limit: 100 } },
      }),
    )
    if (results.some(({ id }) => id === domainId)) return organization_id
  }
  return current
}
