// Two projects whose apps remove a field: in one events wait for an app that cannot run, in the other they are dropped.
import { call } from '../../crash/first-project.ts'

export type GuardedProject = { id: number; token: string; on_failure: 'hold' | 'drop' }

export const FIELD = 'ssn'
/** Names of events that an app drops whenever it runs. */
export const UNWANTED = 'unwanted'

/** Now and then it never answers: then it is left alone for ten seconds, over one restart or two. */
const GUARD = `
  export async function processEvent(event) {
    if (Math.random() < 0.001) await new Promise(() => {})
    delete event.properties.${FIELD}
    return event
  }`
const FILTER = `export function processEvent(event) { return event.event === '${UNWANTED}' ? null : event }`

export async function makeProject(
  url: string,
  on_failure: GuardedProject['on_failure'],
): Promise<GuardedProject> {
  const name = `Events ${on_failure}`
  const { id, api_token } = await call(url, 'POST', '/api/organizations/@current/projects/', { name })
  const project = { id: Number(id), token: String(api_token), on_failure }
  await addApp(url, project, `Guard, ${on_failure}`, GUARD)
  await addApp(url, project, `Filter, ${on_failure}`, FILTER)
  return project
}

async function addApp(
  url: string,
  { id, on_failure }: GuardedProject,
  name: string,
  code: string,
): Promise<void> {
  const plugins = '/api/organizations/@current/plugins/'
  const { id: plugin } = await call(url, 'POST', plugins, { name, plugin_type: 'source' })
  await call(url, 'PATCH', `${plugins}${String(plugin)}/update_source/`, { 'index.ts': code })
  await call(url, 'POST', `/api/projects/${id}/plugin_configs/`, { plugin, enabled: true, on_failure })
}
