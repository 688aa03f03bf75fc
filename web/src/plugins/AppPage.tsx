// One app: what it is set to, its code, what it said, how its calls went, and who changed what.
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy } from 'react'
import { useProject } from '../api/me'
import { GuardedButton } from '../ui/Guarded'
import { done, refused } from '../ui/notify'
import { Page, TabLinks } from '../ui/Page'
import { Status } from '../ui/Status'
import { Empty } from '../ui/States'
import { AppMenu } from './AppMenu'
import { Banner } from './Banner'
import { hasEdits, saveEdits, useEdits } from './code/edits'
import { appQuery, changeApp, type App } from './queries'
import { useAppDenial, useCodeDenial, useMaySeeCode } from './rights'
import { SettingsTab } from './settings/SettingsTab'
import { stateOf } from './states'
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
      {tab !== 'code' && <Banner projectId={projectId} app={app} />}
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
  const isOwn = useMaySeeCode(app)
  const mayEdit = useCodeDenial(app) === null && isOwn
  const { organization } = useProject()
  const isDirty = hasEdits(useEdits(app.plugin)) && mayEdit
  // What was tried is what runs: code that is not saved yet is saved first.
  const saves = isDirty && !app.enabled
  const { flip, isBusy } = useSwitch(projectId, app, saves ? () => saveEdits(organization, app.plugin) : null)
  return (
    <>
      <GuardedButton
        denial={denial}
        variant={app.enabled ? 'default' : 'filled'}
        loading={isBusy}
        onClick={flip}
      >
        {app.enabled ? 'Switch off' : saves ? 'Save and switch on' : 'Switch on'}
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
