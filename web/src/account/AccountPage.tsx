// Your own account: who you are, how you sign in, and what may act in your name.
import { lazy, type ComponentType } from 'react'
import { NotFound } from '../frame/Problems'
import { Page, TabLinks } from '../ui/Page'
import { useTab } from './page'

const TABS: Readonly<Record<string, { label: string; Content: ComponentType }>> = {
  profile: {
    label: 'Profile',
    Content: lazy(() => import('./ProfileTab').then((file) => ({ default: file.ProfileTab }))),
  },
  'sign-in': {
    label: 'Sign-in',
    Content: lazy(() => import('./SignInTab').then((file) => ({ default: file.SignInTab }))),
  },
  keys: {
    label: 'API keys',
    Content: lazy(() => import('./KeysTab').then((file) => ({ default: file.KeysTab }))),
  },
  browsers: {
    label: 'Browsers',
    Content: lazy(() => import('./BrowsersTab').then((file) => ({ default: file.BrowsersTab }))),
  },
  organizations: {
    label: 'Organizations',
    Content: lazy(() => import('./OrganizationsTab').then((file) => ({ default: file.OrganizationsTab }))),
  },
  notifications: {
    label: 'Notifications',
    Content: lazy(() => import('./NotificationsTab').then((file) => ({ default: file.NotificationsTab }))),
  },
}

export function AccountPage() {
  const tab = useTab()
  const shown = TABS[tab]
  if (!shown) return <NotFound />
  const tabs = Object.entries(TABS).map(([value, { label }]) => ({
    value,
    label,
    link: { to: '/account/$tab', params: { tab: value } } as const,
  }))
  return (
    <Page title="Account" tabs={<TabLinks label="Account" tabs={tabs} value={tab} />}>
      <shown.Content />
    </Page>
  )
}
