// What is done to an app now and then: updates, jobs, removing it.
import { ActionIcon, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { useProject } from '../api/me'
import { queries } from '../queries'
import { Confirm } from '../ui/Confirm'
import { GuardedItem } from '../ui/GuardedItem'
import { Icon } from '../ui/Icon'
import { done, refused } from '../ui/notify'
import { JobDialog } from './JobDialog'
import { readJobs } from './jobs'
import { configsQuery, type App } from './queries'
import { useAppDenial, useCodeDenial, useMaySeeCode } from './rights'

export function AppMenu({ projectId, app }: { projectId: string; app: App }) {
  const { organization } = useProject()
  const [open, setOpen] = useState<{ kind: 'remove' | 'uninstall' } | { kind: 'job'; name: string } | null>(
    null,
  )
  const configure = useAppDenial('configure')
  const change = useCodeDenial(app)
  const maySeeCode = useMaySeeCode(app)
  const navigate = useNavigate()
  const plugin = app.plugin_info
  const isOwn = plugin.organization_id === organization
  const jobs = readJobs(plugin.public_jobs)
  const path = { organization_id: organization, id: String(plugin.id) }

  const refresh = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [first] }) => first === 'apps' || first === 'plugins',
    })
  const check = useMutation({
    async mutationFn() {
      const found = await answer(
        api.GET('/api/organizations/{organization_id}/plugins/{id}/check_for_updates/', { params: { path } }),
      )
      return 'plugin' in found ? found.plugin : found
    },
    async onSuccess({ tag, latest_tag }) {
      await refresh()
      done(tag === latest_tag ? 'This is the newest version.' : `There is a newer version: ${latest_tag}.`)
    },
    onError: refused,
  })
  const upgrade = useMutation({
    mutationFn: () =>
      answer(api.POST('/api/organizations/{organization_id}/plugins/{id}/upgrade/', { params: { path } })),
    async onSuccess({ tag }) {
      await refresh()
      done(`The app is at version ${tag}.`)
    },
    onError: refused,
  })
  const leave = async (message: string) => {
    await navigate({ to: '/project/$projectId/apps', params: { projectId } })
    done(message)
    await refresh()
  }

  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label="More actions">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isOwn && plugin.url !== null && (
            <>
              <GuardedItem
                leftSection={<Icon name="refresh" />}
                denial={maySeeCode ? null : change}
                onClick={() => check.mutate()}
              >
                Check for updates
              </GuardedItem>
              <GuardedItem
                leftSection={<Icon name="download" />}
                denial={change}
                onClick={() => upgrade.mutate()}
              >
                Update to the newest version
              </GuardedItem>
              <Menu.Divider />
            </>
          )}
          {jobs.map(({ name }) => (
            <GuardedItem
              key={name}
              leftSection={<Icon name="play" />}
              denial={configure ?? (app.enabled ? null : 'Switch the app on first.')}
              onClick={() => setOpen({ kind: 'job', name })}
            >
              {name}…
            </GuardedItem>
          ))}
          {jobs.length > 0 && <Menu.Divider />}
          <GuardedItem
            leftSection={<Icon name="close" />}
            denial={configure}
            onClick={() => setOpen({ kind: 'remove' })}
          >
            Remove from this project…
          </GuardedItem>
          {isOwn && (
            <GuardedItem
              leftSection={<Icon name="trash" />}
              denial={change}
              onClick={() => setOpen({ kind: 'uninstall' })}
            >
              Uninstall from the organization…
            </GuardedItem>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        isOpen={open?.kind === 'remove'}
        onClose={() => setOpen(null)}
        title={`Remove ${app.name}`}
        button="Remove app"
        onConfirm={async () => {
          const params = { path: { project_id: projectId, id: String(app.id) } }
          await answer(api.DELETE('/api/projects/{project_id}/plugin_configs/{id}/', { params }))
          queries.removeQueries({ queryKey: [...configsQuery(projectId).queryKey, String(app.id)] })
          await leave(`${app.name} is removed.`)
        }}
      >
        The app stops in this project. Its settings are kept, and it can be restored from its address. Its
        code stays in the organization.
      </Confirm>
      <Confirm
        isOpen={open?.kind === 'uninstall'}
        onClose={() => setOpen(null)}
        title={`Uninstall ${plugin.name}`}
        button="Uninstall app"
        typed={plugin.name ?? undefined}
        onConfirm={async () => {
          await answer(api.DELETE('/api/organizations/{organization_id}/plugins/{id}/', { params: { path } }))
          await leave(`${plugin.name} is uninstalled.`)
        }}
      >
        The app goes from every project of the organization, with its code, its settings, its logs and
        everything it has stored.
      </Confirm>
      {open?.kind === 'job' && (
        <JobDialog
          projectId={projectId}
          app={app}
          job={jobs.find(({ name }) => name === open.name)!}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  )
}
