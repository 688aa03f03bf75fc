// The organization: who belongs to it, what belongs to it, and what was changed.
import { lazy, type ComponentType } from 'react'
import { NotFound } from '../frame/Problems'
import { useOrganization } from '../api/me'
import { Page, TabLinks } from '../ui/Page'
import { useTab } from './page'

const TABS: Readonly<Record<string, { label: string; Content: ComponentType }>> = {
  general: {
    label: 'General',
    Content: lazy(() => import('./GeneralTab').then((file) => ({ default: file.GeneralTab }))),
  },
  members: {
    label: 'Members',
    Content: lazy(() => import('./members/MembersTab').then((file) => ({ default: file.MembersTab }))),
  },
  invites: {
    label: 'Invites',
    Content: lazy(() => import('./invites/InvitesTab').then((file) => ({ default: file.InvitesTab }))),
  },
  roles: {
    label: 'Roles',
    Content: lazy(() => import('./roles/RolesTab').then((file) => ({ default: file.RolesTab }))),
  },
  domains: {
    label: 'Domains',
    Content: lazy(() => import('./domains/DomainsTab').then((file) => ({ default: file.DomainsTab }))),
  },
  projects: {
    label: 'Projects',
    Content: lazy(() => import('./ProjectsTab').then((file) => ({ default: file.ProjectsTab }))),
  },
  keys: {
    label: 'Service keys',
    Content: lazy(() => import('./ServiceKeysTab').then((file) => ({ default: file.ServiceKeysTab }))),
  },
  activity: {
    label: 'Activity',
    Content: lazy(() => import('./ActivityTab').then((file) => ({ default: file.ActivityTab }))),
  },
}

export function OrganizationPage() {
  const { id, name } = useOrganization()
  const tab = useTab()
  const shown = TABS[tab]
  if (!shown) return <NotFound />
  const tabs = Object.entries(TABS).map(([value, { label }]) => ({
    value,
    label,
    link: { to: '/organization/$organizationId/$tab', params: { organizationId: id, tab: value } } as const,
  }))
  return (
    <Page title={name} tabs={<TabLinks label="Organization" tabs={tabs} value={tab} />}>
      <shown.Content key={id} />
    </Page>
  )
}
