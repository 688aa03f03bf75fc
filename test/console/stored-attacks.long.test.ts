// What people store is text, wherever it is shown: forty ways of making a page run what is stored in it, in every text
// that a user can store, on every page that shows one.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

const RUN = 'globalThis.__ran=1'
const PAYLOADS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror=${RUN}>`,
  `<svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`,
  `"><img src=x onerror=${RUN}>`,
  `'><svg/onload=${RUN}>`,
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `vbscript:${RUN}`,
  `<a href="javascript:${RUN}">x</a>`,
  `<iframe srcdoc="<script>parent.__ran=1</script>">`,
  `<iframe src="javascript:parent.__ran=1">`,
  `<object data="javascript:${RUN}">`,
  `<embed src="javascript:${RUN}">`,
  `<body onload=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<video><source onerror=${RUN}></video>`,
  `<audio src=x onerror=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}>`,
  `<textarea autofocus onfocus=${RUN}>`,
  `<marquee onstart=${RUN}>`,
  `<form action="javascript:${RUN}"><button>x</button></form>`,
  `<button formaction="javascript:${RUN}">x</button>`,
  `<math href="javascript:${RUN}">x</math>`,
  `<base href="https://evil.example/">`,
  `<link rel=stylesheet href="https://evil.example/x.css">`,
  `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`,
  `<style>*{background:url(https://evil.example/)}</style>`,
  `<template><script>${RUN}</script></template>`,
  `</script><script>${RUN}</script>`,
  `--></style><script>${RUN}</script>`,
  `\${${RUN}}`,
  `{{constructor.constructor('${RUN}')()}}`,
  `%3Cscript%3E${RUN}%3C/script%3E`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `\u202e<script>${RUN}</script>`,
  `[x](javascript:${RUN})`,
]

let app: TestApp
let browser: Console
let home: Workspace
let exportId: string
let configId: number
let personId: string
const payload = (index: number) => PAYLOADS[index % PAYLOADS.length]!

beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  home = await createOrganization(app, { name: payload(0) })
  await app.db.pool.query('UPDATE app_user SET is_staff = true WHERE id = $1', [home.owner.id])
  const { key } = home.owner
  const project = `/api/projects/${home.project.id}`
  const organization = `/api/organizations/${home.organization.id}`
  const send = async (method: 'post' | 'patch', path: string, body: object) => {
    const reply = await app[method](path, body, { key, may_show_secrets: true })
    expect([path, reply.status, reply.status < 300 ? null : reply.body]).toEqual([path, reply.status, null])
    return reply.body
  }
  await send('patch', `${project}/`, { name: payload(1) })
  await app.post('/batch/', {
    api_key: home.project.api_token,
    batch: PAYLOADS.map((text) => ({
      event: text.slice(0, 200),
      distinct_id: text,
      properties: {
        [text]: text,
        $current_url: text,
        $set: { email: text, name: text, [text]: text },
        $lib: text,
        $groups: { [text.slice(0, 100)]: text },
      },
    })),
  })
  await createMember(app, home.organization, { first_name: payload(2), level: 'admin' })
  for (const [index, text] of PAYLOADS.entries())
    await send('post', `${organization}/invites/`, {
      target_email: `invited-${index}@example.com`,
      first_name: text.slice(0, 30),
      message: text,
      send_email: false,
    })
  for (const text of PAYLOADS.slice(0, 10)) {
    await send('post', `${organization}/service_keys/`, {
      label: text.slice(0, 40),
      scopes: ['project:read'],
      level: 1,
    })
    await send('post', `${project}/annotations/`, { content: text, scope: 'project' })
  }
  // Some differ in case alone, which names of roles must not.
  for (const [index, text] of PAYLOADS.entries())
    await send('post', `${organization}/roles/`, { name: `${text} ${index}` })
  for (const text of PAYLOADS) {
    const { id } = await send('post', `${project}/batch_exports/`, {
      name: text,
      interval: 'hour',
      paused: true,
      destination: { type: 'File', config: { prefix: `x${PAYLOADS.indexOf(text)}` } },
    })
    exportId = id
  }
  for (const text of PAYLOADS) {
    const plugin = await send('post', `${organization}/plugins/`, {
      plugin_type: 'source',
      name: text,
      source: `export function processEvent(event) { throw new Error(${JSON.stringify(text)}) }`,
    })
    const config = await send('post', `${project}/plugin_configs/`, {
      plugin: plugin.id,
      enabled: false,
      order: 1,
      name: text,
      description: text,
      config: {},
    })
    configId = config.id
  }
  await app.definitions.flush()
  for (const kind of ['event_definitions', 'property_definitions']) {
    const { body } = await app.get(`${project}/${kind}/?limit=40`, { key })
    for (const [index, { id }] of (body.results as { id: string }[]).entries())
      await send('patch', `${project}/${kind}/${id}/`, {
        description: payload(index),
        tags: [payload(index)],
      })
  }
  const people = await app.get(`${project}/persons/`, { key })
  personId = people.body.results[0].id
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

it('none of them runs on any page', async () => {
  const project = `/project/${home.project.id}`
  const organization = `/organization/${home.organization.id}`
  const query = 'select event, distinct_id, properties, person.properties from events limit 100'
  const pages = [
    ...[
      'overview',
      'get-started',
      'events',
      `sql?q=${encodeURIComponent(query)}`,
      'persons',
      `persons/${personId}`,
      ...['events', 'properties', 'person-properties'].map((tab) => `definitions/${tab}`),
    ].map((path) => `${project}/${path}`),
    `${project}/exports`,
    ...['runs', 'proof', 'backfills', 'logs', 'settings', 'activity'].map(
      (tab) => `${project}/exports/${exportId}/${tab}`,
    ),
    `${project}/apps`,
    ...['settings', 'code', 'logs', 'metrics', 'activity'].map((tab) => `${project}/apps/${configId}/${tab}`),
    `${project}/settings`,
    ...['general', 'members', 'invites', 'roles', 'domains', 'projects', 'keys', 'activity'].map(
      (tab) => `${organization}/${tab}`,
    ),
    ...['profile', 'sign-in', 'keys', 'browsers', 'notifications'].map((tab) => `/account/${tab}`),
    '/server',
  ]
  await browser.visit({ session: home.owner.session, path: pages[0]! }, async ({ page }) => {
    for (const path of pages) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      if (path.includes('/sql')) await page.getByRole('button', { name: /^Run/ }).click()
      await page.waitForLoadState('load')
      expect([path, await page.getByText('There is nothing at this address.').count()]).toEqual([path, 0])
      const row = page.locator('[role=row][data-opens]').first()
      if (
        await row.waitFor({ timeout: 2_000 }).then(
          () => true,
          () => false,
        )
      ) {
        await row.click()
        await page
          .getByRole('dialog')
          .waitFor({ timeout: 2_000 })
          .catch(() => {})
      }
      expect([path, await page.evaluate('globalThis.__ran')]).toEqual([path, undefined])
      const links = (await page.evaluate(
        '[...document.querySelectorAll("a[href], form[action], [formaction], iframe, object, embed")].map((at) => at.href ?? at.action ?? at.outerHTML)',
      )) as string[]
      expect([path, links.filter((link) => !/^https?:/.test(link))]).toEqual([path, []])
    }
  })
}, 600_000)
