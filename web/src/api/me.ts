// The signed-in person, the project and the organization of the address, and what the person may do there.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answer, api, openApi, type Schema } from './client'
import { isStranger } from '../page'
import { Failure, signedOut } from './failure'
import { LEVELS, type Level } from './levels'
import { noteSomebody } from './prompts'

// Pages wait for these before they are shown, so none is cut off when a part of the frame that also asked for it goes away.

/** Null for strangers. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  staleTime: 60_000,
  // Somebody who has signed out in another tab is asked here as soon as they come back.
  refetchOnWindowFocus: 'always',
  async queryFn({ client, queryKey }): Promise<Schema<'Account'> | null> {
    if (isStranger()) return null
    const wasSignedIn = Boolean(client.getQueryData(queryKey))
    try {
      const path = '/api/users/{uuid}/' as const
      // Whoever was signed in is asked to sign in again, on the page as it is.
      const me = await answer((wasSignedIn ? api : openApi).GET(path, { params: { path: { uuid: '@me' } } }))
      if (!('organizations' in me)) return null
      noteSomebody()
      return me as Schema<'Account'>
    } catch (error) {
      if (error instanceof Failure && error.status === 401 && !wasSignedIn) return null
      throw error
    }
  },
})

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['project', id],
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
    queryFn: () => answer(api.GET('/api/projects/{id}/', { params: { path: { id } } })),
  })

export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ['organization', id],
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
    queryFn: () => answer(api.GET('/api/organizations/{id}/', { params: { path: { id } } })),
  })

/** For pages within the frame, where there is always one. */
export function useMe(): Schema<'Account'> {
  const { data } = useSuspenseQuery(meQuery)
  if (data === null) throw signedOut()
  return data
}

/** The project in the address of pages below /project/$projectId. */
export function useProject() {
  const { projectId } = useParams({ strict: false })
  return useSuspenseQuery(projectQuery(projectId!)).data
}

/** The organization in the address of pages below /organization/$organizationId. */
export function useOrganization() {
  const { organizationId } = useParams({ strict: false })
  return useSuspenseQuery(organizationQuery(organizationId!)).data
}

/** Null when allowed; otherwise the reason, to be shown where the action would be. */
export const useProjectDenial = (needed: Level) => denial(needed, useProject().effective_membership_level)
export const useOrganizationDenial = (needed: Level) => denial(needed, useOrganization().membership_level)

function denial(needed: Level, level: number): string | null {
  if (level >= LEVELS[needed]) return null
  return needed === 'owner' ? 'Only owners may do this.' : 'Only admins and owners may do this.'
}
