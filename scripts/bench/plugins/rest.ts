// The memory of a server on which many apps are switched on: while nothing happens, and after each was called.
import { setTimeout as sleep } from 'node:timers/promises'
import type { MeasuredServer } from '../events/measured-server.ts'
import {
  configure,
  createProject,
  install,
  nameOnEvents,
  withFolder,
  withServer,
  type AppConfig,
  type Project,
} from './served-apps.ts'

const PROJECTS = 25
const APPS = Number(process.env.PLUGIN_BENCH_APPS ?? 500)
const REST_MS = 3_000
const ALL_CALLED_MS = 60_000
const EVENTS_EACH = 10
const CODE = `export function processEvent(event, { config }) { event.properties[config.key] = 'set'; return event }`

type Memory = { rest_mb: number; called_mb: number }

export function benchRest(): Promise<boolean> {
  return withFolder(async (folder) => {
    const projects = await withServer(folder, async (server) => {
      const made: Project[] = []
      for (let number = 0; number < PROJECTS; number++)
        made.push(await createProject(server, `Project ${number}`))
      return made
    })
    const without = await measure(folder, projects, [])
    const apps = await withServer(folder, (server) => switchOn(server, projects))
    const with_apps = await measure(folder, projects, apps)
    print(without, with_apps)
    return true
  })
}

async function switchOn(server: MeasuredServer, projects: readonly Project[]): Promise<AppConfig[]> {
  const plugin = await install(server, 'Sets a property', CODE)
  const apps: AppConfig[] = []
  for (let number = 0; number < APPS; number++) {
    const { id } = projects[number % projects.length]!
    apps.push(await configure(server, id, plugin, { enabled: true, config: { key: `app_${number}` } }))
  }
  return apps
}

/** A new server: one on which apps were just switched on has them loaded. */
function measure(folder: string, projects: readonly Project[], apps: readonly AppConfig[]): Promise<Memory> {
  return withServer(folder, async (server) => {
    await sleep(REST_MS)
    const rest_mb = (await server.report()).memory_mb
    for (const project of projects)
      await callAll(
        server,
        project,
        apps.filter((app) => app.project_id === project.id),
      )
    await sleep(REST_MS)
    return { rest_mb, called_mb: (await server.report()).memory_mb }
  })
}

/** Events until each app has had one; as many at least as where there are no apps. */
async function callAll(
  server: MeasuredServer,
  { id, api_token }: Project,
  apps: readonly AppConfig[],
): Promise<void> {
  const until = performance.now() + ALL_CALLED_MS
  const waiting = new Set(apps.map(nameOnEvents))
  for (let sent = 0; sent < EVENTS_EACH || waiting.size > 0; sent++) {
    if (performance.now() > until) throw new Error(`${waiting.size} apps of a project were not called`)
    const event = { event: 'call', distinct_id: 'bench', properties: { number: sent } }
    await server.capture([JSON.stringify({ api_key: api_token, batch: [event] })])
    const [row] = await server.query(
      `select properties.$plugins_succeeded from events where properties.number = ${sent} order by created_at desc limit 1`,
      id,
    )
    const names = (row?.[0] ?? '[]') as string
    for (const name of JSON.parse(names) as string[]) waiting.delete(name)
  }
}

function print(without: Memory, with_apps: Memory): void {
  const line = (what: string, before_mb: number, after_mb: number) =>
    `${what} ${before_mb.toFixed(0)} MB without apps, ${after_mb.toFixed(0)} MB with ${APPS}: ${(((after_mb - before_mb) / APPS) * 1000).toFixed(0)} kB for each`
  console.log(
    [
      `rest     ${line('at rest', without.rest_mb, with_apps.rest_mb)}`,
      `         ${line('after each was called', without.called_mb, with_apps.called_mb)}`,
    ].join('\n'),
  )
}
