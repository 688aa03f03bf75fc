// An HTTP endpoint that takes batches of events as PostHog's capture does.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection } from '../described.ts'
import { eventFilter, httpUrl, secret } from '../config-fields.ts'

const Config = z.strictObject({
  url: httpUrl().meta(connection('Address', 'Takes batches of events by POST.')),
  token: secret().meta(connection('Token', 'Sent as `api_key` with each batch.')),
  ...eventFilter,
})
export type HttpConfig = z.output<typeof Config>

export const httpKind: DestinationKind<HttpConfig> = {
  type: 'HTTP',
  name: 'HTTP',
  category: 'http',
  description: 'Batches of events to an address that takes them as PostHog does.',
  config: Config,
  example: { url: 'https://other.example.com/batch/', token: 'phc_…' },
  secrets: ['token'],
  aims: ['url'],
  models: ['events'],
  columns: 'http',
  takes_custom_columns: false,
  is_piecewise: true,
  hosts: ({ url }) => [new URL(url).hostname],
  target: ({ url }) => url,
  load: async () => (await import('./http.ts')).http,
}
