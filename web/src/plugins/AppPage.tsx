// One app: what it is set to, its code, what it said, how its calls went, and who changed what.
import { Alert, Button } from '@mantine/core'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy } from 'react'
import { GuardedButton } from '../ui/Guarded'
import { done, refused } from '../ui/notify'
import { Page, TabLinks } from '../ui/Page'
import { Status } from '../ui/Status'
import { Empty } from '../ui/States'
import { AppMenu } from './AppMenu'
import { appQuery, changeApp, type App } from './queries'
import { useAppDenial } from './rights'
import { SettingsTab } from './settings/SettingsTab'
import { hasNewVersion, stateOf } from './states'
import { useSwitch } from './useSwitch'

const page = getRouteApi('/frame/project/$projectId/apps/$configId/$tab')

const CodeTab = lazy(() => import('./code/CodeTab').then(({ CodeTab }) => ({ default: CodeTab })))
const LogsTab = lazy(() => import('./LogsTab').then(({ LogsTab }) => ({ default: LogsTab })))
const MetricsTab = lazy(() =>
  import('./metrics/MetricsTab').then(({ MetricsTab }) => ({ default: MetricsTab })),
)
const ActivityTab = lazy(() => import('./ActivityTab').then(({ ActivityTab }) => ({ default: ActivityTab })))

const TABS = [
  { value: 'settings', label: 'Settings' },
  { value: 'code', label: 'Code' },
  { value: 'logs', label: 'Logs' },
  { value: 'metrics', label: 'Metrics' },
  { value: 'activity', label: 'Activity' },
] as const

export function AppPage() {
  const { projectId, configId, tab } = page.useParams()
  const { data: app } = useSuspenseQuery(appQuery(projectId, configId))
  const denial = useAppDenial('configure')
  const { kind, text } = stateOf(app, app.plugin_info)
  return (
    <Page
      title={app.name ?? 'App'}
      crumbs={[{ label: 'Apps', link: { to: '/project/$projectId/apps', params: { projectId } } }]}
      state={app.deleted ? <Status kind="skipped">Removed</Status> : <Status kind={kind}>{text}</Status>}
      actions={
        app.deleted ? (
          <Restore projectId={projectId} app={app} denial={denial} />
        ) : (
          <Actions projectId={projectId} app={app} denial={denial} />
        )
      }
      isFull={tab === 'code' && !app.deleted}
      tabs={
        <TabLinks
          label="Parts of the app"
          value={tab}
          tabs={TABS.map((each) => ({
            ...each,
            link: {
              to: '/project/$projectId/apps/$configId/$tab',
              params: { projectId, configId, tab: each.value },
            },
          }))}
        />
      }
    >
      {tab !== 'code' && <Stopped app={app} />}
      <Tab key={`${configId} ${tab}`} projectId={projectId} app={app} tab={tab} />
    </Page>
  )
}

function Tab({ projectId, app, tab }: { projectId: string; app: App; tab: string }) {
  switch (tab) {
    case 'settings':
      return <SettingsTab projectId={projectId} app={app} />
    case 'code':
      return <CodeTab projectId={projectId} app={app} />
    case 'logs':
      return <LogsTab projectId={projectId} app={app} />
    case 'metrics':
      return <MetricsTab projectId={projectId} app={app} />
    case 'activity':
      return <ActivityTab projectId={projectId} app={app} />
    default:
      return (
        <Empty title="There is no such page">An app has settings, code, logs, metrics and activity.</Empty>
      )
  }
}

type ActionProps = { projectId: string; app: App; denial: string | null }

function Actions({ projectId, app, denial }: ActionProps) {
  const { flip, isBusy } = useSwitch(projectId, app)
  return (
    <>
      <GuardedButton
        denial={denial}
        variant={app.enabled ? 'default' : 'filled'}
        loading={isBusy}
        onClick={flip}
      >
        {app.enabled ? 'Switch off' : 'Switch on'}
      </GuardedButton>
      <AppMenu projectId={projectId} app={app} />
    </>
  )
}

function Restore({ projectId, app, denial }: ActionProps) {
  const restore = useMutation({
    mutationFn: () => changeApp(projectId, app.id, { deleted: false }),
    onSuccess: ({ name }) => done(`${name} is back, and off.`),
    onError: refused,
  })
  return (
    <GuardedButton denial={denial} loading={restore.isPending} onClick={() => restore.mutate()}>
      Restore app
    </GuardedButton>
  )
}

/** Why it does not do what it should, above every tab. */
function Stopped({ app }: { app: App }) {
  const { projectId, configId } = page.useParams()
  const accept = useMutation({
    mutationFn: () => changeApp(projectId, app.id, { version: app.latest_version }),
    onSuccess: () => done('The new version runs from now on.'),
    onError: refused,
  })
  const navigate = page.useNavigate()
  const [wrong] = app.plugin_info.errors
  if (wrong !== undefined)
    return (
      <Alert color="red" variant="light" title="The code does not run" mb="lg">
        <p className="mono">
          {wrong.line === null ? wrong.message : `${wrong.file}:${wrong.line}: ${wrong.message}`}
        </p>
        <Button
          variant="default"
          onClick={() =>
            void navigate({ params: { projectId, configId, tab: 'code' }, search: { file: wrong.file } })
          }
        >
          Open the code
        </Button>
      </Alert>
    )
  if (app.error !== null)
    return (
      <Alert color="red" variant="light" title="The app was stopped" mb="lg">
        {app.error.message} It starts again when it is switched off and on, or when its code or settings
        change.
      </Alert>
    )
  if (hasNewVersion(app))
    return (
      <Alert variant="light" title="There is a new version" mb="lg">
        <p>
          {app.plugin_info.organization_name} has changed this app. Here it runs as it was accepted, until you
          accept the new version.
        </p>
        <Button variant="default" loading={accept.isPending} onClick={() => accept.mutate()}>
          Accept the new version
        </Button>
      </Alert>
    )
  return null
}
