// An HTTP endpoint that takes batches of events as PostHog's capture does.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { eventFilter, httpUrl, secret } from '../config-fields.ts'

const Config = z.strictObject({ url: httpUrl(), token: secret(), ...eventFilter })
export type HttpConfig = z.output<typeof Config>

export const httpKind: DestinationKind<HttpConfig> = {
  type: 'HTTP',
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
