// What somebody may do with apps: the organization's access level decides, then their own. src/features/plugins/rules.ts
// says the same.
import { useSuspenseQuery } from '@tanstack/react-query'
import { LEVELS } from '../api/levels'
import { organizationQuery, useProject } from '../api/me'
import type { App } from './queries'

const ACCESS = { use: 3, configure: 3, try: 3, install: 6 } as const

/** Null when allowed; otherwise the reason. `use` is looking at apps, whatever one may change. */
export function useAppDenial(needed: keyof typeof ACCESS): string | null {
  const { organization, effective_membership_level } = useProject()
  const { plugins_access_level, plugins_min_write_level, membership_level } = useSuspenseQuery(
    organizationQuery(organization),
  ).data
  if (plugins_access_level < ACCESS[needed])
    return needed === 'install'
      ? 'The organization may not install apps or write them.'
      : 'The organization may not use apps.'
  // What a project does with apps goes by the level in the project, code by the one in the organization.
  const level = needed === 'configure' ? effective_membership_level : membership_level
  if (needed === 'use' || level >= plugins_min_write_level) return null
  return plugins_min_write_level >= LEVELS.owner
    ? 'Only owners may change apps on this server.'
    : 'Only admins and owners may change apps on this server.'
}

/** Code belongs to the organization that has written or installed it, which sees it where it may install apps. */
export function useMaySeeCode(app: App): boolean {
  const { organization } = useProject()
  const { plugins_access_level } = useSuspenseQuery(organizationQuery(organization)).data
  return app.plugin_info.organization_id === organization && plugins_access_level >= ACCESS.install
}

/** Null when the code of the organization's own app may be changed, updated and removed; otherwise the reason. */
export function useCodeDenial(app: App): string | null {
  const denial = useAppDenial('install')
  if (denial !== null || app.is_plugin_used_beyond !== true) return denial
  return 'A project that you have no access to uses this app as well. Ask an admin of the organization to change it.'
}
