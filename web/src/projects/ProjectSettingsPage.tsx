// Settings of the project: its name, its token, who may use it, what was changed.
import { getRouteApi } from '@tanstack/react-router'
import { lazy } from 'react'
import { useProject } from '../api/me'
import { Page, TabLinks } from '../ui/Page'
import { GeneralTab } from './GeneralTab'
import type { SettingsSearch } from './routes'

const page = getRouteApi('/frame/project/$projectId/settings')
const AccessTab = lazy(() => import('./AccessTab').then((file) => ({ default: file.AccessTab })))
const ActivityTab = lazy(() => import('./ActivityTab').then((file) => ({ default: file.ActivityTab })))

export function ProjectSettingsPage() {
  const { id } = useProject()
  const { tab, open }: SettingsSearch = page.useSearch()
  const navigate = page.useNavigate()
  const link = (search: SettingsSearch) =>
    ({ to: '/project/$projectId/settings', params: { projectId: String(id) }, search }) as const
  const tabs = [
    { value: 'general', label: 'General', link: link({}) },
    { value: 'access', label: 'Access', link: link({ tab: 'access' }) },
    { value: 'activity', label: 'Activity', link: link({ tab: 'activity' }) },
  ]
  const show = (entry: string | undefined) => void navigate({ search: { tab: 'activity', open: entry } })
  return (
    <Page title="Settings" tabs={<TabLinks label="Settings" tabs={tabs} value={tab ?? 'general'} />}>
      {tab === 'access' ? (
        <AccessTab key={id} />
      ) : tab === 'activity' ? (
        <ActivityTab open={open} onOpen={show} />
      ) : (
        <GeneralTab key={id} />
      )}
    </Page>
  )
}
