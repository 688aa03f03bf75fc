// The address of the account's pages, and how the account is changed.
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { meQuery } from '../api/me'
import type { paths } from '../api/schema'
import type { AccountSearch } from './routes'

const page = getRouteApi('/frame/account/$tab')

export const useTab = () => page.useParams().tab

export function useAddress() {
  const search: AccountSearch = page.useSearch()
  const navigate = page.useNavigate()
  return {
    open: search.open,
    show: (id: string) => void navigate({ search: { open: id } }),
    close: () => void navigate({ search: {} }),
  }
}

export type AccountFields = NonNullable<
  paths['/api/users/{uuid}/']['patch']['requestBody']
>['content']['application/json']

export const ME = { path: { uuid: '@me' } } as const

export function useAccountChange() {
  const queries = useQueryClient()
  return async (body: AccountFields) => {
    const account = await answer(api.PATCH('/api/users/{uuid}/', { params: ME, body }))
    queries.setQueryData(meQuery.queryKey, account)
    return account
  }
}
