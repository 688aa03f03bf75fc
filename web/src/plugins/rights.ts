// What somebody may do with apps: the organization's access level decides. src/features/plugins/rules.ts says the same.
import { useSuspenseQuery } from '@tanstack/react-query'
import { organizationQuery, useProject } from '../api/me'
import type { App } from './queries'

const ACCESS = { configure: 3, install: 6 } as const

/** Null when allowed; otherwise the reason. */
export function useAppDenial(needed: keyof typeof ACCESS): string | null {
  const { organization } = useProject()
  const { plugins_access_level } = useSuspenseQuery(organizationQuery(organization)).data
  if (plugins_access_level >= ACCESS[needed]) return null
  return needed === 'install'
    ? 'The organization may not install apps or write them.'
    : 'The organization may not use apps.'
}

/** Code belongs to the organization that has written or installed it. */
export function useMayEdit(app: App): boolean {
  const { organization } = useProject()
  const denial = useAppDenial('install')
  return app.plugin_info.organization_id === organization && denial === null
}
