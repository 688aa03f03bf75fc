// A measured server on a folder of its own, and apps on it that were installed as users install them.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MeasuredServer } from '../events/measured-server.ts'

export type Project = { id: number; api_token: string }
export type AppConfig = { id: number; project_id: number; name: string; enabled: boolean }

const PLUGINS = '/api/organizations/@current/plugins/'

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-plugins-'))
  // Root's PostgreSQL runs as another user.
  await chmod(folder, 0o711)
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function withServer<Result>(
  folder: string,
  work: (server: MeasuredServer) => Promise<Result>,
): Promise<Result> {
  const server = await MeasuredServer.start(folder)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

export async function createProject(server: MeasuredServer, name: string): Promise<Project> {
  return (await server.ask('POST', '/api/organizations/@current/projects/', { name })) as Project
}

/** The plugin's id. */
export async function install(server: MeasuredServer, name: string, code: string): Promise<number> {
  const { id } = await server.ask('POST', PLUGINS, { plugin_type: 'source', name })
  const { capabilities } = await server.ask('PATCH', `${PLUGINS}${String(id)}/update_source/`, {
    'index.ts': code,
  })
  if (JSON.stringify(capabilities) === '{}') throw new Error(`the code of ${name} cannot be run`)
  return Number(id)
}

export async function configure(
  server: MeasuredServer,
  project_id: number,
  plugin: number,
  fields: { enabled: boolean; config?: object },
): Promise<AppConfig> {
  return present(project_id, await server.ask('POST', pathOf(project_id), { plugin, ...fields }))
}

export async function readConfig(server: MeasuredServer, { project_id, id }: AppConfig): Promise<AppConfig> {
  return present(project_id, await server.get(`${pathOf(project_id)}${id}/`))
}

export async function setEnabled(
  server: MeasuredServer,
  { project_id, id }: AppConfig,
  enabled: boolean,
): Promise<void> {
  await server.ask('PATCH', `${pathOf(project_id)}${id}/`, { enabled })
}

/** The newest lines of its log. */
export async function readLog(server: MeasuredServer, { project_id, id }: AppConfig): Promise<string[]> {
  const { results } = await server.get(`${pathOf(project_id)}${id}/logs/?limit=1000`)
  return (results as { message: string }[]).map(({ message }) => message)
}

/** As events that went through it say it. */
export function nameOnEvents({ name, id }: AppConfig): string {
  return `${name} (${id})`
}

const pathOf = (project_id: number) => `/api/projects/${project_id}/plugin_configs/`

function present(project_id: number, answer: Record<string, unknown>): AppConfig {
  return { ...(answer as Omit<AppConfig, 'project_id'>), project_id }
}
