// What the parts of a domain ask and change.
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../api/client'
import { useOrganization } from '../../api/me'
import type { paths } from '../../api/schema'

export type Domain = Schema<'Domain'>
export type PartProps = { domain: Domain; onGone: () => void }

export const ONE = '/api/organizations/{organization_id}/domains/{id}/'

type Fields = NonNullable<paths[typeof ONE]['patch']['requestBody']>['content']['application/json']

export function useDomainChange(domain: Domain) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const params = { path: { organization_id, id: domain.id } }
  const refreshList = () => queries.invalidateQueries({ queryKey: ['domains', organization_id] })
  const refresh = () =>
    Promise.all([refreshList(), queries.invalidateQueries({ queryKey: ['domain-ways', domain.id] })])
  return {
    params,
    refresh,
    /** Nothing else can be asked about a domain that is gone. */
    refreshList,
    async change(body: Fields) {
      await answer(api.PATCH(ONE, { params, body }))
      await refresh()
    },
  }
}

export const waysQuery = (organization_id: string, id: string) =>
  queryOptions({
    queryKey: ['domain-ways', id],
    // Somebody may have come in through the provider in another tab.
    refetchOnWindowFocus: 'always',
    queryFn: ({ signal }) =>
      answer(api.GET(`${ONE}ways/`, { params: { path: { organization_id, id } }, signal })),
  })
