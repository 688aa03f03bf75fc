// Why an app does not do what it should, and what to do, above its pages.
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { GuardedButton } from '../ui/Guarded'
import { done, refused } from '../ui/notify'
import { Status } from '../ui/Status'
import classes from './Banner.module.css'
import { changeApp, type App } from './queries'
import { useAppDenial } from './rights'
import { hasNewVersion, problemOf } from './states'

export function Banner({ projectId, app }: { projectId: string; app: App }) {
  const problem = problemOf(app, app.plugin_info)
  if (problem === null || app.deleted) return null
  return (
    <section className={classes.banner} data-kind={problem.kind} aria-label="What needs attention">
      <Status kind={problem.kind}>{problem.text}</Status>
      {problem.detail !== undefined && <p className="mono">{problem.detail}</p>}
      <WhatToDo projectId={projectId} app={app} />
    </section>
  )
}

function WhatToDo({ projectId, app }: { projectId: string; app: App }) {
  const navigate = useNavigate()
  const [wrong] = app.plugin_info.errors
  if (wrong !== undefined) {
    const at = wrong.line === null ? {} : { at: `${wrong.line}:${wrong.column ?? 1}` }
    const params = { projectId, configId: String(app.id), tab: 'code' }
    const link = {
      to: '/project/$projectId/apps/$configId/$tab',
      params,
      search: { file: wrong.file, ...at },
    } as const
    return (
      <Button variant="default" onClick={() => void navigate(link)}>
        {wrong.line === null ? `Open ${wrong.file}` : `Open ${wrong.file}, line ${wrong.line}`}
      </Button>
    )
  }
  if (app.held_events > 0) return <p>They go through the app, in their order, as soon as it runs again.</p>
  if (app.error !== null)
    return <p>It is tried again after a change of its code or settings, or when it is switched off and on.</p>
  if (app.enabled && app.failures_24h > 0) {
    const params = { projectId, configId: String(app.id), tab: 'metrics' }
    const link = {
      to: '/project/$projectId/apps/$configId/$tab',
      params,
      search: { range: '24h' },
    } as const
    return (
      <>
        <Button variant="default" onClick={() => void navigate(link)}>
          Show what failed
        </Button>
        {hasNewVersion(app) && <Accept projectId={projectId} app={app} />}
      </>
    )
  }
  return hasNewVersion(app) ? <Accept projectId={projectId} app={app} /> : null
}

function Accept({ projectId, app }: { projectId: string; app: App }) {
  const denial = useAppDenial('configure')
  const accept = useMutation({
    mutationFn: () => changeApp(projectId, app.id, { version: app.latest_version }),
    onSuccess: () => done('The new version runs from now on.'),
    onError: refused,
  })
  return (
    <>
      <p>
        {app.plugin_info.organization_name} has changed this app. Here it runs as it was accepted, until the
        new version is.
      </p>
      <GuardedButton
        denial={denial}
        variant="default"
        loading={accept.isPending}
        onClick={() => accept.mutate()}
      >
        Accept the new version
      </GuardedButton>
    </>
  )
}
