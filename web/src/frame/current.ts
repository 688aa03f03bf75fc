// Which project and organization somebody works in: the account keeps it, so that the next visit begins there.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { meQuery } from '../api/me'
import { refused } from '../ui/notify'

export function useCurrentChange() {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return async (body: { set_current_team: number } | { set_current_organization: string }) => {
    try {
      const account = await answer(
        api.PATCH('/api/users/{uuid}/', { params: { path: { uuid: '@me' } }, body }),
      )
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      const { team } = account as { team: { id: number } | null }
      if (team) await navigate({ to: '/project/$projectId', params: { projectId: String(team.id) } })
      else await navigate({ to: '/' })
    } catch (error) {
      refused(error)
    }
  }
}
