// Secrets are stored for where an export goes now; a run that began earlier may go elsewhere. And when a run fails on our
// side, the server's log says so without them.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp } from '../../../../test/harness/app.ts'
import { setTenPastTheHour } from '../fixture/clock.ts'

async function listen(status: number) {
  const tokens: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      tokens.push(JSON.parse(text).api_key)
      response.writeHead(status).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    tokens,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  }
}

it('a run that began with another address never gets the secrets of the new one', async () => {
  const app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  setTenPastTheHour(app)
  const { project, owner } = await createOrganization(app)
  const key = owner.key
  const [old, next] = [await listen(503), await listen(200)]
  const base = `/api/projects/${project.id}/batch_exports/`
  const destination = (url: string, token: string) => ({ type: 'HTTP', config: { url, token } })
  const body = { name: 'n', interval: 'hour', destination: destination(old.url, 'token-of-old') }
  const { id } = (await app.post(base, body, { key })).body
  await app.post('/batch/', { api_key: project.api_token, batch: [{ event: 'x', distinct_id: 'd' }] })
  const work = async (ms: number) => {
    app.advance(ms)
    await app.exports.tick()
    await app.exports.idle()
  }
  await work(2 * 3_600_000 + 61_000)
  await work(61_000)
  expect(new Set(old.tokens)).toEqual(new Set(['token-of-old']))
  await app.patch(`${base}${id}/`, { destination: destination(next.url, 'token-of-next') }, { key })
  await work(600_000)
  expect(old.tokens).not.toContain('token-of-next')
  const runs = (await app.get(`${base}${id}/runs/?status=Failed`, { key })).body.results
  expect(runs).toMatchObject([{ latest_error: expect.stringContaining('goes elsewhere since') }])
  await app.post(`${base}${id}/runs/${runs[0].id}/retry/`, {}, { key })
  await work(1_000)
  expect(next.tokens).toEqual(['token-of-next'])
  old.close()
  next.close()
  await app.close()
})

it('a fault on our side is told in the log of the server without the secrets of the destination', async () => {
  const app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  setTenPastTheHour(app)
  const { project, owner } = await createOrganization(app)
  const token = app.canary.plant('token', 'token-of-nobody-else-7f3a')
  const base = `/api/projects/${project.id}/batch_exports/`
  const destination = { type: 'HTTP', config: { url: 'http://127.0.0.1:9/', token } }
  const body = { name: 'n', interval: 'hour', destination }
  expect((await app.post(base, body, { key: owner.key })).status).toBe(201)
  await app.post('/batch/', { api_key: project.api_token, batch: [{ event: 'x', distinct_id: 'd' }] })
  const { eventStore } = app.services
  app.services.eventStore = {
    ...eventStore,
    countBlocks: () => Promise.reject(new TypeError(`broken by ${token}`, { cause: new Error(token) })),
  }
  app.advance(2 * 3_600_000)
  const toldLines = () =>
    app.logs.filter((line) => line.includes('an attempt of an export failed on our side'))
  await expect
    .poll(
      async () => {
        app.advance(61_000)
        await app.exports.tick()
        await app.exports.idle()
        return toldLines().length
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0)
  for (const line of toldLines()) {
    expect(line).toMatch(/TypeError/)
    expect(line).toMatch(/broken by/)
    expect(line).not.toContain(token)
  }
  await app.close()
})
