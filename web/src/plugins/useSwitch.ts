// Switching an app on and off. What it lacks for that is said, with the way to where it is given.
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { toFailure } from '../api/failure'
import { done, refused } from '../ui/notify'
import { ChangedElsewhere } from './code/edits'
import { changeApp, type Config, type Plugin } from './queries'

export function useSwitch(
  projectId: string,
  { id, enabled, name }: Config,
  saveFirst: (() => Promise<Plugin>) | null = null,
) {
  const navigate = useNavigate()
  const { mutate, isPending } = useMutation({
    async mutationFn() {
      const [wrong] = (await saveFirst?.())?.errors ?? []
      if (wrong)
        throw new Error(`The code is saved, but it does not run, so ${name} stays off: ${wrong.message}`)
      return changeApp(projectId, id, { enabled: !enabled })
    },
    onSuccess(app) {
      const [wrong] = app.plugin_info.errors
      if (!app.enabled) done(`${app.name} is off.`)
      else if (wrong) refused(new Error(`${app.name} is on, but its code does not run: ${wrong.message}`))
      else done(`${app.name} is on.`)
    },
    onError(error) {
      const { attr, message } = toFailure(error)
      const setting = attr?.startsWith('config__') ? attr.slice('config__'.length) : null
      refused(setting === null ? error : new Error(`${name} cannot be switched on: ${message} (${setting})`))
      const tab = setting !== null ? 'settings' : error instanceof ChangedElsewhere ? 'code' : null
      if (tab !== null)
        void navigate({
          to: '/project/$projectId/apps/$configId/$tab',
          params: { projectId, configId: String(id), tab },
        })
    },
  })
  return { flip: () => mutate(), isBusy: isPending }
}
