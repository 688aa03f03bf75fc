// What the pictures show: a project with sample events, an export whose proof adds up, and an app that changes events.
import type { Program } from '../../test/end-to-end/program.ts'

export type Workspace = {
  url: string
  session: string
  organization_id: string
  project_id: number
  export_id: string
  config_id: number
}

type Answer = { status: number; body: Record<string, never>; cookie: string | undefined }

const EMAIL = 'ada@harbour.example'
const PASSWORD = 'a long sentence for pictures'
const DAY_MS = 86_400_000
const PATIENCE_MS = 180_000
const APP = `export function processEvent(event, { config }) {
  // Pages of the shop are grouped by their first folder.
  const path = event.properties.$pathname ?? '/'
  event.properties.section = path.split('/')[1] || 'home'
  delete event.properties.$ip
  return event
}
`

export async function fillWorkspace(program: Program): Promise<Workspace> {
  const server = program.serve({
    DATA_DIR: program.newDataDir(),
    PORT: '0',
    HOST: '127.0.0.1',
    BOOTSTRAP_EMAIL: EMAIL,
    BOOTSTRAP_PASSWORD: PASSWORD,
  })
  const url = await server.url
  let session = ''
  const call = async (method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie: `sessionid=${session}`, origin: url },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    const cookie = /sessionid=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1]
    return { status: response.status, body: text === '' ? {} : JSON.parse(text), cookie }
  }

  session = (await call('POST', '/api/login/', { email: EMAIL, password: PASSWORD })).cookie ?? ''
  const { organization, team } = (await call('GET', '/api/users/@me/')).body as unknown as {
    organization: { id: string }
    team: { id: number }
  }
  const at = `/api/projects/${team.id}`
  await call('PATCH', `/api/organizations/${organization.id}/`, { name: 'Harbour Works' })
  await call('PATCH', `${at}/`, { name: 'Web shop' })

  await call('POST', `${at}/sample_data/`)
  await until(async () => {
    const { body } = await call('POST', `${at}/query/`, {
      query: { kind: 'HogQLQuery', query: 'select count() from events' },
    })
    return Number((body as unknown as { results: number[][] }).results[0]?.[0]) >= 5_000
  })

  const made = await call('POST', `${at}/batch_exports/`, {
    name: 'Daily to a folder',
    model: 'events',
    interval: 'day',
    destination: { type: 'File', config: { prefix: 'events', file_format: 'Parquet', compression: 'zstd' } },
  })
  const { id: export_id } = made.body as unknown as { id: string }
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  await call('POST', `${at}/batch_exports/${export_id}/backfills/`, {
    start_at: null,
    end_at: new Date(today).toISOString(),
  })
  await until(async () => {
    const { body } = await call('GET', `${at}/batch_exports/${export_id}/backfills/`)
    const { results } = body as unknown as { results: { status: string }[] }
    return results.every(({ status }) => status === 'Completed')
  })
  await call('POST', `${at}/batch_exports/${export_id}/verify/`)

  const plugin = await call('POST', `/api/organizations/${organization.id}/plugins/`, {
    plugin_type: 'source',
    name: 'Sections of the shop',
    source: APP,
  })
  const { id: plugin_id } = plugin.body as unknown as { id: number }
  const config = await call('POST', `${at}/plugin_configs/`, {
    plugin: plugin_id,
    enabled: true,
    order: 1,
    config: {},
  })
  const { id: config_id } = config.body as unknown as { id: number }
  for (const target_email of ['grace@harbour.example', 'edsger@harbour.example'])
    await call('POST', `/api/organizations/${organization.id}/invites/`, {
      target_email,
      level: 8,
      send_email: false,
    })
  return { url, session, organization_id: organization.id, project_id: team.id, export_id, config_id }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not come about in time')
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
