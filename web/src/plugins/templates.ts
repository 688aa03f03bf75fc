// What a new app begins as. Each does something that can be tried at once.

export type Template = {
  value: string
  label: string
  what: string
  files: (name: string) => Record<string, string>
}

const IMPORT = "import type { PluginEvent, PluginMeta } from '@posthog/plugin-scaffold'\n\n"

const manifest = (name: string, description: string, main: string, config: readonly object[] = []) =>
  `${JSON.stringify({ name, description, main, config }, null, 2)}\n`

export const TEMPLATES: readonly Template[] = [
  {
    value: 'transformation',
    label: 'Transformation',
    what: 'Changes or drops events before they are stored.',
    files: (name) => ({
      'index.ts': `${IMPORT}export function processEvent(event: PluginEvent, { config }: PluginMeta) {
  event.properties ??= {}
  event.properties[config.property] = true
  // Return null to drop the event.
  return event
}
`,
      'plugin.json': manifest(name, 'Marks every event.', 'index.ts', [
        { key: 'property', name: 'Property to set', type: 'string', default: 'seen_by_app', required: true },
      ]),
    }),
  },
  {
    value: 'webhook',
    label: 'Webhook',
    what: 'Sends a request for each stored event. Longshore retries it.',
    files: (name) => ({
      'index.ts': `import type { PluginMeta, PostHogEvent } from '@posthog/plugin-scaffold'

export function composeWebhook(event: PostHogEvent, { config }: PluginMeta) {
  return {
    url: config.url,
    method: 'POST' as const,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ event: event.event, who: event.distinct_id, properties: event.properties }),
  }
}
`,
      'plugin.json': manifest(name, 'Sends events to an address.', 'index.ts', [
        { key: 'url', name: 'Address', type: 'string', default: 'https://example.com/hook', required: true },
      ]),
    }),
  },
  {
    value: 'destination',
    label: 'Destination',
    what: 'Gets stored events in batches and carries them elsewhere with its own code.',
    files: (name) => ({
      'index.ts': `import type { PluginMeta, ProcessedPluginEvent } from '@posthog/plugin-scaffold'

export async function exportEvents(events: ProcessedPluginEvent[], { config, logger }: PluginMeta) {
  const answer = await fetch(config.url, { method: 'POST', body: JSON.stringify(events) })
  if (!answer.ok) throw new RetryError(\`the other side answered \${answer.status}\`)
  logger.info(\`\${events.length} events sent\`)
}
`,
      'plugin.json': manifest(name, 'Sends batches of events to an address.', 'index.ts', [
        { key: 'url', name: 'Address', type: 'string', default: 'https://example.com/batch', required: true },
      ]),
    }),
  },
  {
    value: 'import',
    label: 'Import',
    what: 'Runs every hour and captures what it finds.',
    files: (name) => ({
      'index.ts': `import type { PluginMeta } from '@posthog/plugin-scaffold'

export async function runEveryHour({ storage, logger }: PluginMeta) {
  const runs = (await storage.get('runs', 0)) + 1
  await storage.set('runs', runs)
  await posthog.capture('hour passed', { runs })
  logger.info(\`run \${runs}\`)
}
`,
      'plugin.json': manifest(name, 'Captures an event every hour.', 'index.ts'),
    }),
  },
  {
    value: 'site',
    label: 'Web page',
    what: 'Runs in the web pages of your visitors, loaded by the browser library.',
    files: (name) => ({
      'site.ts': `export function inject({ config, posthog }) {
  if (config.message) console.info(config.message)
}
`,
      'plugin.json': manifest(name, 'Runs in web pages.', 'site.ts', [
        { key: 'message', name: 'Message', type: 'string', default: '', site: true },
      ]),
    }),
  },
]
