// The request that composeWebhook returns: what is taken, what is sent, what answers mean.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  startWebhookServer,
  type Reaction,
  type WebhookStandIn,
} from '../../../../test/stand-ins/webhook-server.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import { openOutbound, type Outbound } from '../../../platform/outbound/outbound.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import { readWebhook, sendWebhook, type WebhookRequest } from './webhook.ts'

const EVENT_ID = '018e0000-0000-7000-8000-000000000001'

let outbound: Outbound
let endpoint: WebhookStandIn
let reaction: Reaction
beforeAll(async () => {
  outbound = openOutbound({ allow: ['127.0.0.1'] })
  endpoint = await startWebhookServer(() => reaction)
})
afterAll(async () => {
  await outbound.close()
  await endpoint.close()
})

async function send(request: Partial<WebhookRequest>, answer: Reaction, secrets: string[] = []) {
  reaction = answer
  const whole = { url: endpoint.url, method: 'POST' as const, headers: {}, body: '{}', ...request }
  return await sendWebhook(outbound, whole, EVENT_ID, new Redactor(secrets), new AbortController().signal)
}

describe('readWebhook', () => {
  it('takes text as it is and everything else as JSON', () => {
    const url = 'https://example.com'
    expect(readWebhook({ url, body: 'plain "text"' })).toEqual({
      url,
      method: 'POST',
      headers: {},
      body: 'plain "text"',
    })
    expect(readWebhook({ url, body: { a: [1] }, method: 'put', headers: { 'X-A': 1 } })).toEqual({
      url,
      method: 'PUT',
      headers: { 'x-a': '1' },
      body: '{"a":[1]}',
    })
    expect(readWebhook({ url, body: null })?.body).toBe('null')
    expect(readWebhook({ url })?.body).toBe('')
  })

  it('takes null for nothing to send', () => {
    expect([readWebhook(null), readWebhook(undefined)]).toEqual([null, null])
  })

  it.each([
    ['text', 'https://example.com'],
    ['a list', []],
    ['no url', { body: '' }],
    ['an unknown method', { url: 'x', body: '', method: 'TRACE' }],
    ['headers that are a list', { url: 'x', body: '', headers: ['a'] }],
    ['a header that is an object', { url: 'x', body: '', headers: { a: {} } }],
    ['a body that is too large', { url: 'x', body: 'ü'.repeat(600_000) }],
  ])('refuses %s', (_, result) => {
    expect(() => readWebhook(result)).toThrow(AppFault)
  })
})

describe('sendWebhook', () => {
  it('sends JSON with the id of the event, unless the app says otherwise', async () => {
    expect(await send({ body: '{"a":1}' }, { status: 204 })).toEqual({ kind: 'taken' })
    const first = endpoint.requests.at(-1)!
    expect([first.method, first.body, first.event_id]).toEqual(['POST', '{"a":1}', EVENT_ID])
    expect(first.headers['content-type']).toBe('application/json')

    const headers = { 'content-type': 'text/plain', 'x-longshore-event-id': 'mine', 'x-key': 'k' }
    await send({ method: 'PUT', headers, body: 'hello' }, { status: 200 })
    const second = endpoint.requests.at(-1)!
    expect([second.method, second.body, second.event_id]).toEqual(['PUT', 'hello', EVENT_ID])
    expect(second.headers).toMatchObject({ 'content-type': 'text/plain', 'x-key': 'k' })
  })

  it.each([
    [408, 'passing'],
    [429, 'passing'],
    [500, 'passing'],
    [503, 'passing'],
    [301, 'refused'],
    [400, 'refused'],
    [404, 'refused'],
    [410, 'refused'],
  ])('%i is %s', async (status, kind) => {
    const before = endpoint.requests.length
    const headers = { location: `${endpoint.url}/elsewhere` }
    const answer = await send({}, { status, headers })
    expect(answer).toMatchObject({ kind })
    expect((answer as { fault: AppFault }).fault.message).toContain(String(status))
    expect(endpoint.requests).toHaveLength(before + 1)
  })

  it('a connection that breaks is passing', async () => {
    expect(await send({}, 'cut')).toMatchObject({ kind: 'passing', retry_after_ms: null })
  })

  it('reads Retry-After as seconds and as a date', async () => {
    const after = async (headers: Record<string, string>) =>
      ((await send({}, { status: 429, headers })) as { retry_after_ms: number | null }).retry_after_ms
    expect(await after({ 'retry-after': '7' })).toBe(7_000)
    const date = new Date('2026-01-01T00:00:00Z').toUTCString()
    const later = new Date('2026-01-01T00:00:30Z').toUTCString()
    expect(await after({ 'retry-after': later, date })).toBe(30_000)
    expect(await after({ 'retry-after': 'soon' })).toBe(null)
    expect(await after({})).toBe(null)
  })

  it('repeats what the endpoint said, on one line and without the settings of the app', async () => {
    const answer = await send({}, { status: 400, body: 'bad\nkey s3cret-value!' }, ['s3cret-value!'])
    expect((answer as { fault: AppFault }).fault.message).toBe(
      'The endpoint answered with status 400: bad key ***',
    )
  })

  it.each(['http://10.0.0.1/', 'http://169.254.169.254/latest', 'file:///etc/passwd', 'nonsense'])(
    'refuses %s without repeating it',
    async (url) => {
      const answer = await send({ url }, { status: 200 })
      expect(answer).toMatchObject({ kind: 'refused' })
      expect((answer as { fault: AppFault }).fault.message).toMatch(/may not be called/)
    },
  )

  it('a header that cannot be written is refused', async () => {
    expect(await send({ headers: { 'x-a': 'line\nbreak' } }, { status: 200 })).toMatchObject({
      kind: 'refused',
    })
  })
})
