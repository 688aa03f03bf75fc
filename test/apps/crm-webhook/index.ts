// composeWebhook with headers; the time is a Date.
import type { PostHogEvent, Webhook } from '@posthog/plugin-scaffold'

export function composeWebhook(event: PostHogEvent, { config }: any): Webhook | null {
  if (event.event.startsWith('$')) return null
  return {
    url: `${config.url}/people/${encodeURIComponent(event.distinct_id)}`,
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${config.token}` },
    body: JSON.stringify({ name: event.event, at: event.timestamp.getTime(), data: event.properties }),
  }
}
