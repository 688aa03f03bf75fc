// Switching an app on and off. What it lacks for that is said, with the way to where it is given.
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { toFailure } from '../api/failure'
import { done, refused } from '../ui/notify'
import { changeApp, type Config } from './queries'

export function useSwitch(projectId: string, { id, enabled, name }: Config) {
  const navigate = useNavigate()
  const { mutate, isPending } = useMutation({
    mutationFn: () => changeApp(projectId, id, { enabled: !enabled }),
    onSuccess: (app) => done(app.enabled ? `${app.name} is on.` : `${app.name} is off.`),
    onError(error) {
      const { attr, message } = toFailure(error)
      const setting = attr?.startsWith('config__') ? attr.slice('config__'.length) : null
      refused(setting === null ? error : new Error(`${name} cannot be switched on: ${message} (${setting})`))
      if (setting !== null)
        void navigate({
          to: '/project/$projectId/apps/$configId/$tab',
          params: { projectId, configId: String(id), tab: 'settings' },
        })
    },
  })
  return { flip: () => mutate(), isBusy: isPending }
}
