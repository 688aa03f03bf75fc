// An app that hands the uuids of events on, and whoever takes them.
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../../crash/first-project.ts'
import { startWebhookServer } from '../../../test/stand-ins/webhook-server.ts'

const CODE = `
  export function processEvent(event) { event.properties.marked = true; return event }
  export async function exportEvents(events, { config }) {
    await fetch(config.url, { method: 'POST', body: JSON.stringify(events.map(({ uuid }) => uuid)) })
  }`
const PATIENCE_MS = 300_000
const LOOK_EVERY_MS = 200

export type Receiver = {
  /** How many came again: an app is given events at least once. */
  repeated(): number
  /** How many do not come. */
  missing(uuids: readonly string[]): Promise<number>
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver & { url: string }> {
  const arrived = new Set<string>()
  let count = 0
  const { url, requests, close } = await startWebhookServer(() => {
    for (const { body } of requests.splice(0)) {
      const uuids = JSON.parse(body) as string[]
      count += uuids.length
      for (const uuid of uuids) arrived.add(uuid)
    }
    return { status: 200 }
  })
  return {
    url,
    repeated: () => count - arrived.size,
    async missing(uuids) {
      const deadline = Date.now() + PATIENCE_MS
      for (;;) {
        const missing = uuids.filter((uuid) => !arrived.has(uuid)).length
        if (missing === 0 || Date.now() > deadline) return missing
        await sleep(LOOK_EVERY_MS)
      }
    },
    close,
  }
}

export async function installApp(api_url: string, receiver_url: string): Promise<void> {
  const plugins = '/api/organizations/@current/plugins/'
  const { id: plugin } = await call(api_url, 'POST', plugins, { name: 'Hand on', plugin_type: 'source' })
  await call(api_url, 'PATCH', `${plugins}${String(plugin)}/update_source/`, { 'index.ts': CODE })
  const config = { plugin, enabled: true, config: { url: receiver_url } }
  await call(api_url, 'POST', '/api/projects/@current/plugin_configs/', config)
}
