// The address of the organization's pages: which list, what it is narrowed down to, what is open beside it.
import { getRouteApi } from '@tanstack/react-router'
import type { OrganizationSearch } from './routes'

const page = getRouteApi('/frame/organization/$organizationId/$tab')

export const useTab = () => page.useParams().tab

export function useAddress() {
  const search: OrganizationSearch = page.useSearch()
  const navigate = page.useNavigate()
  const change = (changes: OrganizationSearch, replace = false) =>
    void navigate({ search: (before: OrganizationSearch) => ({ ...before, ...changes }), replace })
  return {
    search,
    /** Filters replace the address, so that going back leaves the list. */
    filter: (changes: OrganizationSearch) => change(changes, true),
    open: (id: string) => change({ open: id }),
    close: () =>
      change({
        open: undefined,
        part: undefined,
        sign_in: undefined,
        group: undefined,
        request: undefined,
      }),
    /** Within what is open. */
    showSignIn: (id: string | undefined) => change({ sign_in: id }),
    showGroup: (id: string | undefined) => change({ group: id }),
    showRequest: (id: string | undefined) => change({ request: id }),
  }
}
