import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { it, beforeAll, afterAll } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
let app: TestApp, w: Workspace, key: string, base: string
beforeAll(async () => { app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' }); w = await createOrganization(app); key = w.owner.key; base = `/api/projects/${w.project.id}/batch_exports/` })
afterAll(() => app.close())
const noOp = { type: 'NoOp', config: {} }
const create = (f: object) => app.post(base, { name: 'n', interval: 'hour', destination: noOp, ...f }, { key })
const brief = (r: any) => `${r.status} ${JSON.stringify(r.body).slice(0, 420)}`
async function listen(answer: (body: string) => [number, string]) {
  const seen: string[] = []
  const server = createServer((req, res) => { let t = ''; req.on('data', (c) => (t += c)); req.on('end', () => { seen.push(t); const [s, b] = answer(t); res.writeHead(s).end(b) }) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}
it('probe', async () => {
  const out: string[] = []
  const say = (what: string, r: any) => out.push(what + ' -> ' + brief(r))
  for (const q of ['select seq from events', 'select event from events where seq > 1', 'select uuid, seq as s from events', 'select inserted_at from events', 'select person_mode from events'])
    say(q, await create({ hogql_query: q }))
  say('filter seq', await create({ filters: [{ type: 'hogql', key: 'seq > 5' }] }))
  const a = await listen(() => [503, 'later'])
  const b = await listen(() => [200, '{}'])
  const e = await create({ destination: { type: 'HTTP', config: { url: a.url, token: 'token-for-A-1' } } })
  await app.post('/batch/', { api_key: w.project.api_token, batch: [{ event: 'x', distinct_id: 'd' }] })
  app.advance(2 * 3600e3); await app.exports.tick(); await app.exports.idle()
  say('runs', await app.get(`${base}${e.body.id}/runs/`, { key }))
  say('patch', await app.patch(`${base}${e.body.id}/`, { destination: { config: { url: b.url, token: 'token-for-B-2' } } }, { key }))
  app.advance(600e3); await app.exports.tick(); await app.exports.idle()
  out.push('A saw: ' + a.seen.map((t) => JSON.parse(t).api_key).join(), 'B saw: ' + b.seen.map((t) => JSON.parse(t).api_key).join())
  const token = 'phc_a/b+c&d<e>"f g'
  const enc = { json: JSON.stringify(token), php: JSON.stringify(token).replaceAll('/', '\\/'), go: JSON.stringify(token).replaceAll(/[&<>]/g, (c) => '\\u00' + c.charCodeAt(0).toString(16)), html: token.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'), url: encodeURIComponent(token), form: String(new URLSearchParams({ '': token })), b64: Buffer.from(token).toString('base64'), hex: Buffer.from(token).toString('hex'), cut: 'x'.repeat(485) + encodeURIComponent(token), cut64: 'x'.repeat(485) + Buffer.from(token).toString('base64') }
  for (const [how, text] of Object.entries(enc)) {
    const c = await listen(() => [400, text])
    say(how, await app.post(`${base}run_test_step_new/`, { destination: { type: 'HTTP', config: { url: c.url, token } } }, { key }))
    c.close()
  }
  a.close(); b.close()
  console.log(out.join('\n'))
}, 100000)
