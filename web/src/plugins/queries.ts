// What the pages of apps ask the API for. An app is a plugin of the organization with its config in one project.
import { queryOptions } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import { queries } from '../queries'

export type Config = Schema<'PluginConfig'>
export type Plugin = Schema<'Plugin'>
export type App = Config & { plugin_info: Plugin }
export type RecentEvent = {
  id: string
  event: string
  distinct_id: string
  timestamp: string
  properties: Record<string, unknown>
}
export type Files = Readonly<Record<string, string>>

/** A project has 100 configs at most, and an organization sees some hundred plugins at most: one page holds them. */
const ALL = 1000
const BUSY_MS = 15_000

export const configsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['apps', projectId],
    refetchInterval: BUSY_MS,
    async queryFn({ signal }): Promise<Config[]> {
      const path = '/api/projects/{project_id}/plugin_configs/' as const
      const params = { path: { project_id: projectId }, query: { limit: ALL } }
      return (await answer(api.GET(path, { params, signal }))).results
    },
  })

export const pluginsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['plugins', organizationId],
    async queryFn({ signal }): Promise<Plugin[]> {
      const path = '/api/organizations/{organization_id}/plugins/' as const
      const params = { path: { organization_id: organizationId }, query: { limit: ALL } }
      return (await answer(api.GET(path, { params, signal }))).results
    },
  })

export const catalogueQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['plugins', organizationId, 'catalogue'],
    async queryFn({ signal }): Promise<Schema<'OfferedPlugin'>[]> {
      const path = '/api/organizations/{organization_id}/plugins/repository/' as const
      const params = { path: { organization_id: organizationId }, query: { limit: ALL } }
      const offers = await answer(api.GET(path, { params, signal }))
      return 'results' in offers ? offers.results : offers
    },
  })

export const appQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['apps', projectId, id],
    refetchInterval: BUSY_MS,
    async queryFn({ signal }): Promise<App> {
      const path = '/api/projects/{project_id}/plugin_configs/{id}/' as const
      return (await answer(api.GET(path, { params: { path: { project_id: projectId, id } }, signal }))) as App
    },
  })

export const filesQuery = (organizationId: string, pluginId: number) =>
  queryOptions({
    queryKey: ['plugins', organizationId, 'files', pluginId],
    // What was typed into an editor is not to be overtaken.
    refetchOnWindowFocus: false,
    async queryFn({ signal }): Promise<Files> {
      const path = '/api/organizations/{organization_id}/plugins/{id}/source/' as const
      const params = {
        path: { organization_id: organizationId, id: String(pluginId) },
        query: { format: 'posthog' },
      }
      return (await answer(api.GET(path, { params, signal }))) as Files
    },
  })

export const recentEventsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['apps', projectId, 'recent events'],
    staleTime: 30_000,
    async queryFn({ signal }): Promise<RecentEvent[]> {
      const path = '/api/projects/{project_id}/events/' as const
      const params = { path: { project_id: projectId }, query: { limit: 20 } }
      const page = await answer(api.GET(path, { params, signal }))
      return typeof page === 'string' ? [] : (page.results as RecentEvent[])
    },
  })

export async function changeApp(projectId: string, id: number, body: Record<string, unknown>): Promise<App> {
  const path = '/api/projects/{project_id}/plugin_configs/{id}/' as const
  const changed = await answer(
    api.PATCH(path, { params: { path: { project_id: projectId, id: String(id) } }, body }),
  )
  return keep(projectId, changed as App)
}

/** Settings with files go as a form. */
export async function sendForm(projectId: string, id: number, form: FormData): Promise<App> {
  const path = '/api/projects/{project_id}/plugin_configs/{id}/' as const
  const changed = await answer(
    api.PATCH(path, {
      params: { path: { project_id: projectId, id: String(id) } },
      body: form as unknown as Record<string, unknown>,
      bodySerializer: () => form,
    }),
  )
  return keep(projectId, changed as App)
}

function keep(projectId: string, app: App): App {
  queries.setQueryData(appQuery(projectId, String(app.id)).queryKey, app)
  void queries.invalidateQueries({ queryKey: configsQuery(projectId).queryKey, exact: true })
  return app
}

/** Gives a plugin to the project, switched off. */
export async function addToProject(projectId: string, plugin: number): Promise<App> {
  const path = '/api/projects/{project_id}/plugin_configs/' as const
  const made = await answer(api.POST(path, { params: { path: { project_id: projectId } }, body: { plugin } }))
  return keep(projectId, made as App)
}

export async function createPlugin(organizationId: string, body: Record<string, unknown>): Promise<Plugin> {
  const path = '/api/organizations/{organization_id}/plugins/' as const
  const made = await answer(api.POST(path, { params: { path: { organization_id: organizationId } }, body }))
  void queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  return made
}

/** The plugin afterwards, with what is wrong in its files. */
export async function saveFiles(
  organizationId: string,
  pluginId: number,
  files: Record<string, string | null>,
): Promise<Plugin> {
  const path = '/api/organizations/{organization_id}/plugins/{id}/update_source/' as const
  const params = { path: { organization_id: organizationId, id: String(pluginId) } }
  const saved = await answer(api.PATCH(path, { params, body: files as Record<string, unknown> }))
  await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  await queries.invalidateQueries({ queryKey: ['apps'] })
  return saved as Plugin
}
