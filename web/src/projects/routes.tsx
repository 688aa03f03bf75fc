import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export type SettingsSearch = {
  tab?: 'access' | 'activity'
  /** The entry of the log that is open. */
  open?: string
}

export const projectSettingsRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/settings',
      component: lazyRouteComponent(() => import('./ProjectSettingsPage'), 'ProjectSettingsPage'),
      validateSearch: ({ tab, open }: Record<string, unknown>): SettingsSearch => ({
        ...(tab === 'access' || tab === 'activity' ? { tab } : {}),
        ...(typeof open === 'string' && open !== '' ? { open } : {}),
      }),
    }),
  ] as const
}
