// onEvent with fetch, imported as older apps do, and RetryError for what passes.
import fetch from 'node-fetch'

export async function onEvent(event, { config }) {
  if (!config.events.split(',').includes(event.event)) return
  const answer = await fetch(config.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: `${event.distinct_id}: ${event.event}`, id: event.uuid }),
  })
  if (answer.status >= 500) throw new RetryError(`the channel answered ${answer.status}`)
  if (!answer.ok) throw new Error(`the channel refused: ${await answer.text()}`)
}
