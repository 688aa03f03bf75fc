// One export: where it stands, what can be done about it, and its tabs.
import { useSuspenseQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Page, TabLinks } from '../ui/Page'
import { Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { exportRoute, linkToExport, useExportPath } from './addresses'
import { ExportActions } from './ExportActions'
import { exportQuery, type Export } from './queries'
import { isTab, TABS, type Tab } from './search'
import { behindText, exportState, reasonOf } from './states'

const PARTS = {
  runs: lazy(() => import('./runs/RunsTab').then(({ RunsTab }) => ({ default: RunsTab }))),
  proof: lazy(() => import('./proof/ProofTab').then(({ ProofTab }) => ({ default: ProofTab }))),
  backfills: lazy(() =>
    import('./backfills/BackfillsTab').then(({ BackfillsTab }) => ({ default: BackfillsTab })),
  ),
  logs: lazy(() => import('./logs/LogsTab').then(({ LogsTab }) => ({ default: LogsTab }))),
  settings: lazy(() =>
    import('./settings/SettingsTab').then(({ SettingsTab }) => ({ default: SettingsTab })),
  ),
  activity: lazy(() => import('./ActivityTab').then(({ ActivityTab }) => ({ default: ActivityTab }))),
}
const NAMES: Record<Tab, string> = {
  runs: 'Runs',
  proof: 'Proof',
  backfills: 'Backfills',
  logs: 'Logs',
  settings: 'Settings',
  activity: 'Activity',
}

export function ExportPage() {
  const path = useExportPath()
  const { tab } = exportRoute.useParams()
  const { data } = useSuspenseQuery(exportQuery(path))
  if (!isTab(tab)) return <Navigate {...linkToExport(path, 'runs')} replace />
  const Part = PARTS[tab]
  return (
    <Page
      title={data.name}
      crumbs={[
        {
          label: 'Exports',
          link: { to: '/project/$projectId/exports', params: { projectId: path.projectId } },
        },
      ]}
      state={<ExportState data={data} />}
      actions={<ExportActions data={data} />}
      tabs={
        <TabLinks
          label="Parts of this export"
          value={tab}
          tabs={TABS.map((value) => ({ value, label: NAMES[value], link: linkToExport(path, value) }))}
        />
      }
    >
      <Suspense fallback={<Loading />}>
        <Part data={data} />
      </Suspense>
    </Page>
  )
}

function ExportState({ data: { freshness, paused } }: { data: Export }) {
  if (!freshness) return null
  const standing = { ...freshness, paused }
  const { kind, text } = exportState(standing)
  const behind = behindText(freshness)
  return (
    <span title={reasonOf(standing)}>
      <Status kind={kind}>
        {text}
        {behind !== null && kind !== 'waiting' && `, ${behind}`}
      </Status>
    </span>
  )
}
