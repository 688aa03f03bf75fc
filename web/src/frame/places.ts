// Where one can go: what the rail lists and the palette finds.
import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/Icon'

export type Place = {
  label: string
  icon: IconName
  link: LinkProps
  /** Where all its tabs are; the link leads to the first of them. */
  under?: string
}

export const startPlace = (projectId: string): Place => ({
  label: 'Get started',
  icon: 'start',
  link: { to: '/project/$projectId/get-started', params: { projectId } },
})

export function projectPlaces(projectId: string, hasEvents: boolean): readonly Place[] {
  const params = { projectId }
  return [
    hasEvents
      ? { label: 'Overview', icon: 'overview', link: { to: '/project/$projectId/overview', params } }
      : startPlace(projectId),
    { label: 'Events', icon: 'events', link: { to: '/project/$projectId/events', params } },
    { label: 'SQL', icon: 'sql', link: { to: '/project/$projectId/sql', params } },
    { label: 'People', icon: 'people', link: { to: '/project/$projectId/persons', params } },
    {
      label: 'Definitions',
      icon: 'definitions',
      under: `/project/${projectId}/definitions/`,
      link: { to: '/project/$projectId/definitions/$tab', params: { ...params, tab: 'events' } },
    },
    { label: 'Exports', icon: 'exports', link: { to: '/project/$projectId/exports', params } },
    { label: 'Apps', icon: 'apps', link: { to: '/project/$projectId/apps', params } },
    { label: 'Settings', icon: 'settings', link: { to: '/project/$projectId/settings', params } },
  ]
}

/** What one comes to make. Pages say who may not. */
export function actions(projectId: string | undefined, organizationId: string | undefined): readonly Place[] {
  const inProject = (params: { projectId: string }): Place[] => [
    { label: 'Create export', icon: 'exports', link: { to: '/project/$projectId/exports/new', params } },
    {
      label: 'Write an app',
      icon: 'apps',
      link: { to: '/project/$projectId/apps/new/$way', params: { ...params, way: 'write' } },
    },
  ]
  const inOrganization = (id: string): Place[] =>
    (['invites', 'projects'] as const).map((tab) => ({
      label: tab === 'invites' ? 'Invite people' : 'Create project',
      icon: tab === 'invites' ? 'people' : 'folder',
      link: {
        to: '/organization/$organizationId/$tab',
        params: { organizationId: id, tab },
        search: { open: 'new' },
      },
    }))
  return [
    ...(projectId === undefined ? [] : inProject({ projectId })),
    ...(organizationId === undefined ? [] : inOrganization(organizationId)),
    {
      label: 'Create API key',
      icon: 'account',
      link: { to: '/account/$tab', params: { tab: 'keys' }, search: { open: 'new' } },
    },
  ]
}

const ORGANIZATION_PARTS = {
  members: 'Members',
  invites: 'Invites',
  roles: 'Roles',
  domains: 'Domains',
  projects: 'Projects',
  keys: 'Service keys',
  activity: 'Activity',
}
const ACCOUNT_PARTS = {
  profile: 'Profile',
  'sign-in': 'Sign-in',
  keys: 'API keys',
  browsers: 'Browsers',
  organizations: 'Organizations',
  notifications: 'Notifications',
}

/** Parts of the pages beside projects: people look for them by their own names. */
export function parts(organizationId: string | undefined): readonly (Place & { group: string })[] {
  const ofOrganization =
    organizationId === undefined
      ? []
      : Object.entries(ORGANIZATION_PARTS).map(([tab, label]) => ({
          label,
          group: 'Organization',
          icon: 'organization' as const,
          link: { to: '/organization/$organizationId/$tab', params: { organizationId, tab } } as LinkProps,
        }))
  const ofAccount = Object.entries(ACCOUNT_PARTS).map(([tab, label]) => ({
    label,
    group: 'Account',
    icon: 'account' as const,
    link: { to: '/account/$tab', params: { tab } } as LinkProps,
  }))
  return [...ofOrganization, ...ofAccount]
}

export function otherPlaces(organizationId: string | undefined, isStaff: boolean): readonly Place[] {
  const organization: Place[] =
    organizationId === undefined
      ? []
      : [
          {
            label: 'Organization',
            icon: 'organization',
            under: '/organization/',
            link: { to: '/organization/$organizationId/$tab', params: { organizationId, tab: 'general' } },
          },
        ]
  const account: Place = {
    label: 'Account',
    icon: 'account',
    under: '/account/',
    link: { to: '/account/$tab', params: { tab: 'profile' } },
  }
  const server: Place[] = isStaff ? [{ label: 'Server', icon: 'server', link: { to: '/server' } }] : []
  return [...organization, account, ...server]
}
