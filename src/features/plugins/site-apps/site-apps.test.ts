import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { addConfig, type ConfigFields } from '../fixture/rows.ts'
import type { AppIds } from '../running/running-app.ts'

const SITE = `(function () {let exports={};exports.inject = (given) => { window.seen = given };return exports;})`
const TOKEN = 'OpensTheScript1234567890'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  workspace = await createOrganization(app)
})

const add = (fields: ConfigFields = {}) =>
  addConfig(app, workspace.project.id, { enabled: true, site: SITE, web_token: TOKEN, ...fields })

type Listed = { id: number; url: string; type: string }

async function list(): Promise<Listed[]> {
  const { status, body } = await app.post('/decide/?v=3', {
    token: workspace.project.api_token,
    distinct_id: 'd',
  })
  expect(status).toBe(200)
  return body.siteApps
}

/** As whoever edits something does. */
async function edit(statement: ReturnType<typeof sql>, { config_id }: AppIds): Promise<void> {
  await app.db.run(statement)
  await app.services.changes.tell(app.db, 'plugin-config', config_id)
}

describe('the list of site apps', () => {
  it('has what is switched on and transpiled, the same in every answer to client libraries', async () => {
    const { config_id } = await add()
    await add({ enabled: false })
    await addConfig(app, workspace.project.id, { enabled: true })
    const broken = await add()
    await app.db.run(sql`
      UPDATE plugin_source_file SET status = 'ERROR', transpiled = NULL WHERE plugin_id = ${broken.plugin_id}`)
    const removed = await add()
    await app.db.run(sql`UPDATE plugin_config SET deleted = true WHERE id = ${removed.config_id}`)
    const expected = [
      {
        id: config_id,
        url: expect.stringMatching(new RegExp(`^/site_app/${config_id}/${TOKEN}/[0-9a-f]{32}/$`)) as string,
        type: 'site_app',
      },
    ]
    expect(await list()).toEqual(expected)
    const token = workspace.project.api_token
    expect((await app.post('/flags/?v=2', { token })).body.siteApps).toEqual(expected)
    expect((await app.get(`/array/${token}/config`)).body.siteApps).toEqual(expected)
    const { body } = await app.get(`/array/${token}/config.js`)
    const window: {
      _POSTHOG_REMOTE_CONFIG?: Record<string, { config: { siteApps: unknown }; siteApps: unknown }>
    } = {}
    runInNewContext(body as string, { window })
    const { config, siteApps } = window._POSTHOG_REMOTE_CONFIG![token]!
    expect([JSON.parse(JSON.stringify(config.siteApps)), JSON.parse(JSON.stringify(siteApps))]).toEqual([
      expected,
      [],
    ])
  })

  it('is empty for a project without any, whatever its neighbours have', async () => {
    await add()
    const { project } = await createOrganization(app)
    expect((await app.post('/decide/', { token: project.api_token })).body.siteApps).toEqual([])
  })

  it('gives a new address after each change', async () => {
    const ids = await add()
    const urls = [(await list())[0]!.url]
    const later = (minutes: number) => new Date(app.services.now().getTime() + minutes * 60_000)
    const changes = [
      sql`UPDATE plugin_config SET updated_at = ${later(1)} WHERE id = ${ids.config_id}`,
      sql`UPDATE plugin SET updated_at = ${later(2)} WHERE id = ${ids.plugin_id}`,
      sql`UPDATE plugin_source_file SET updated_at = ${later(3)} WHERE plugin_id = ${ids.plugin_id}`,
    ]
    for (const change of changes) {
      await edit(change, ids)
      urls.push((await list())[0]!.url)
    }
    expect(new Set(urls).size).toBe(4)
  })

  it('follows edits at once, and those of other processes within seconds', async () => {
    const ids = await add()
    expect(await list()).toHaveLength(1)
    await edit(sql`UPDATE plugin_config SET enabled = false WHERE id = ${ids.config_id}`, ids)
    expect(await list()).toEqual([])
    await app.db.run(sql`UPDATE plugin_config SET enabled = true WHERE id = ${ids.config_id}`)
    expect(await list()).toEqual([])
    app.advance(5_000)
    expect(await list()).toHaveLength(1)
  })
})

describe('GET /site_app/:id/:token/:hash/', () => {
  const SCHEMA = [
    { key: 'greeting', type: 'string', site: true, default: 'Hello' },
    { key: 'colour', type: 'string', site: true, default: 'blue' },
    { key: 'internal', type: 'string' },
    { key: 'api_key', type: 'string', secret: true },
    // Older rows may have what can no longer be stored.
    { key: 'leak', type: 'string', secret: true, site: true, default: 'leaked by default' },
    { key: 'file', type: 'attachment', site: true },
    { markdown: 'text' },
  ]

  /** What the app is called with, once a page has loaded the script. */
  function run(script: string, globals: Record<string, unknown> = {}) {
    const window: Record<string, unknown> = { ...globals }
    runInNewContext(script, { window })
    return window.seen as { config: Record<string, unknown>; posthog: unknown }
  }

  it('200 without credentials: the code, called with the settings that pages may see', async () => {
    const { config_id } = await add({
      config_schema: SCHEMA,
      config: { greeting: 'Hi', internal: 'not for pages', leak: 'leaked', file: 'f', unknown: 'unlisted' },
    })
    const { url } = (await list())[0]!
    const { status, body, headers } = await app.get(url)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
    expect(body).toBe(
      `${SITE}().inject({config:{"greeting":"Hi","colour":"blue"},posthog:window['__$$ph_site_app_${config_id}']})`,
    )
    const posthog = {}
    const seen = run(body, { [`__$$ph_site_app_${config_id}`]: posthog })
    expect(seen.posthog).toBe(posthog)
    expect(JSON.parse(JSON.stringify(seen.config))).toEqual({ greeting: 'Hi', colour: 'blue' })
  })

  it('200 with settings that cannot leave their place in a script', async () => {
    const greeting = `</script><script>alert(1)</script><!-- \u2028\u2029 "'\\`
    await add({ config_schema: SCHEMA, config: { greeting } })
    const { body } = await app.get((await list())[0]!.url)
    expect(body).not.toMatch(/[<\u2028\u2029]/)
    expect(run(body).config.greeting).toBe(greeting)
  })

  it('200 for an old address: the current code, kept for a minute', async () => {
    const { config_id } = await add()
    for (const hash of ['0'.repeat(32), 'anything']) {
      const { status, body, headers } = await app.get(`/site_app/${config_id}/${TOKEN}/${hash}/`)
      expect(status).toBe(200)
      expect(headers['cache-control']).toBe('public, max-age=60')
      expect(body).toContain(SITE)
    }
  })

  it('404 with an error of its own for all that is not to be had', async () => {
    const { config_id, plugin_id } = await add()
    const off = await add({ enabled: false })
    const other = await add({ web_token: 'another' })
    const urls = [
      `/site_app/${config_id}/wrong/x/`,
      `/site_app/${config_id}/another/x/`,
      `/site_app/${config_id}/${TOKEN.toLowerCase()}/x/`,
      `/site_app/${off.config_id}/${TOKEN}/x/`,
      `/site_app/${other.config_id}/${TOKEN}/x/`,
      `/site_app/99999999999/${TOKEN}/x/`,
      `/site_app/2000000000/${TOKEN}/x/`,
      `/site_app/nonsense/${TOKEN}/x/`,
      `/site_app/${config_id}/%00/x/`,
    ]
    for (const url of urls) {
      const { status, body, headers } = await app.get(url)
      expect([status, url]).toEqual([404, url])
      expect(body).toMatchObject({ type: 'server_error', code: 'missing_site_app_source', attr: null })
      expect(headers['cache-control']).toBe('no-store')
    }
    expect((await app.get(`/site_app/${config_id}/${TOKEN}/x/`)).status).toBe(200)
    await app.db.run(sql`UPDATE plugin_source_file SET status = 'ERROR' WHERE plugin_id = ${plugin_id}`)
    expect((await app.get(`/site_app/${config_id}/${TOKEN}/x/`)).status).toBe(404)
  })

  it('says to pages of any origin that they may have it, and refuses other methods', async () => {
    const { config_id } = await add()
    const url = `/site_app/${config_id}/${TOKEN}/x/`
    const headers = { origin: 'https://shop.example.com' }
    const answers = [await app.get(url, { headers }), await app.get(url.replace(TOKEN, 'wrong'), { headers })]
    for (const answer of answers) {
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': 'https://shop.example.com',
        vary: 'Origin',
      })
    }
    expect((await app.call('OPTIONS', url, { headers })).status).toBe(204)
    expect(await app.post(url)).toMatchObject({ status: 405, headers: { allow: 'GET, OPTIONS' } })
  })
})
