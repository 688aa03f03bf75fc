// What becomes of events by default when an app cannot run, as its code decides; and what its config says instead.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'

let app: TestApp
let home: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  key = home.owner.key
})
afterAll(() => app.close())

const configs = (rest = '') => `/api/projects/${home.project.id}/plugin_configs/${rest}`

async function install(code: string): Promise<number> {
  const plugins = `/api/organizations/${home.organization.id}/plugins/`
  const { id } = (await app.post(plugins, { name: 'App' }, { key })).body
  expect((await app.patch(`${plugins}${id}/update_source/`, { 'index.ts': code }, { key })).status).toBe(200)
  return id
}
const configure = async (plugin: number, fields: object = {}) =>
  (await app.post(configs(), { plugin, ...fields }, { key })).body
const processing = (body: string) => `export function processEvent(event) { ${body} }`

const EACH = 'for (const [name, value] of Object.entries(event.properties))'

describe('by default', () => {
  it.each([
    ['removes a property', 'delete event.properties.ssn; return event', 'hold'],
    [
      'removes one by a name that it computes',
      `for (const name of ['email', 'ssn']) delete event.properties[name]; return event`,
      'hold',
    ],
    [
      'leaves one out',
      'const { ssn, ...properties } = event.properties; return { ...event, properties }',
      'hold',
    ],
    ['empties one', 'event.properties.ssn = null; return event', 'hold'],
    [
      'empties one with a number beside it',
      'event.properties.a = NaN; event.properties.ssn = ""; return event',
      'hold',
    ],
    ['sets one to undefined', 'event.properties.ssn = undefined; return event', 'hold'],
    [
      'takes a number that is none away again',
      'const n = Number(event.properties.n); event.properties.n = isNaN(n) ? null : n; return event',
      'hold',
    ],
    [
      'removes numbers only',
      `${EACH} if (typeof value === 'number') delete event.properties[name]; return event`,
      'hold',
    ],
    [
      'removes texts only',
      `${EACH} if (typeof value === 'string') delete event.properties[name]; return event`,
      'hold',
    ],
    [
      'removes objects only',
      `${EACH} if (typeof value === 'object') event.properties[name] = null; return event`,
      'hold',
    ],
    [
      'removes addresses only',
      `${EACH} if (/^\\S+@\\S+$/.test(value)) event.properties[name] = ''; return event`,
      'hold',
    ],
    [
      'removes numbers of one name only',
      `if (event.properties.sum > 0) delete event.properties.sum; return event`,
      'hold',
    ],
    ['takes texts for granted', `${EACH} value.trim(); delete event.properties.ssn; return event`, 'hold'],
    ['drops everything', 'return null', 'hold'],
    ['drops what has a name', `return event.event === 'internal' ? null : event`, 'hold'],
    ['adds a property', 'event.properties.hour = 7; return event', 'pass'],
    ['changes one', 'event.properties.url = String(event.properties.url).trim(); return event', 'pass'],
    ['converts one', 'event.properties.eur = event.properties.usd * 0.9; return event', 'pass'],
    [
      'makes a number of one',
      'event.properties.price = Number(event.properties.price); return event',
      'pass',
    ],
    ['divides by nothing', 'event.properties.rate = 1 / (event.properties.count ^ 0); return event', 'pass'],
    ['makes a date of one', 'event.properties.day = new Date(event.properties.day); return event', 'pass'],
    [
      'makes a new event with a number',
      'const { usd } = event.properties; return { ...event, properties: { ...event.properties, usd: usd * 2 } }',
      'pass',
    ],
    [
      'waits and then computes',
      'return Promise.resolve().then(() => { event.properties.n *= 2; return event })',
      'pass',
    ],
    ['throws', `throw new Error('no settings')`, 'pass'],
    ['waits for ever', 'return new Promise(() => {})', 'pass'],
  ])('an app that %s', async (_, body, on_failure) => {
    expect(await configure(await install(processing(body)))).toMatchObject({ on_failure, held_events: 0 })
  })

  it('an app without processEvent passes events', async () => {
    expect(await configure(await install('export function onEvent() { return null }'))).toMatchObject({
      on_failure: 'pass',
    })
  })

  it('follows the code that is saved later', async () => {
    const plugin = await install(processing('return event'))
    const { id, on_failure } = await configure(plugin)
    expect(on_failure).toBe('pass')
    const url = `/api/organizations/${home.organization.id}/plugins/${plugin}/update_source/`
    await app.patch(url, { 'index.ts': processing('return null') }, { key })
    expect((await app.get(configs(`${id}/`), { key })).body.on_failure).toBe('hold')
  })
})

describe('on_failure of a config', () => {
  it('stands above the default, until null brings that back', async () => {
    const { id, ...config } = await configure(await install(processing('return null')), {
      on_failure: 'drop',
    })
    expect(config.on_failure).toBe('drop')
    const change = async (body: object) => (await app.patch(configs(`${id}/`), body, { key })).body.on_failure
    expect(await change({ on_failure: 'pass' })).toBe('pass')
    expect(await change({ name: 'Other' })).toBe('pass')
    expect(await change({ on_failure: null })).toBe('hold')
    const { results } = (await app.get(configs(`${id}/activity/`), { key })).body
    expect(results[0].detail.changes).toEqual([
      expect.objectContaining({ field: 'on_failure', before: 'pass', after: null }),
    ])
  })

  it.each(['wait', '', 5, true, ['hold']])('400 for %j', async (on_failure) => {
    const plugin = await install(processing('return event'))
    const reply = await app.post(configs(), { plugin, on_failure }, { key })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_choice', attr: 'on_failure' } })
    expect((await app.get(configs(), { key })).body.results).not.toContainEqual(
      expect.objectContaining({ plugin }),
    )
  })
})
