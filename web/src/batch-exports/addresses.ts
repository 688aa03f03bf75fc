// The pages about exports, as components name them: their places in the router, and links to one export.
import { getRouteApi, useParams, type LinkProps } from '@tanstack/react-router'
import type { ExportPath } from './queries'
import type { ExportSearch, Tab } from './search'

export const listRoute = getRouteApi('/frame/project/$projectId/exports')
export const newRoute = getRouteApi('/frame/project/$projectId/exports/new')
export const exportRoute = getRouteApi('/frame/project/$projectId/exports/$exportId/$tab')

export function linkToExport(
  { projectId, exportId }: ExportPath,
  tab: Tab,
  search: ExportSearch = {},
): LinkProps {
  return { to: '/project/$projectId/exports/$exportId/$tab', params: { projectId, exportId, tab }, search }
}

/** The ids in the address of pages below /exports/$exportId. */
export function useExportPath(): ExportPath {
  const { projectId, exportId } = useParams({ strict: false })
  return { projectId: projectId!, exportId: exportId! }
}
