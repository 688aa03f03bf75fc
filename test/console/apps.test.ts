// Apps as people meet them: written here, tried, switched on, changed by the event that comes next; the list of a project
// and every part of the page of one app.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, type TestUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

let folder: string
let app: TestApp
let browser: Console
let home: Workspace
let member: TestUser
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-apps-'))
  app = await startTestApp({ PLUGINS_LOCAL_DIR: folder })
  browser = await openConsole(app)
  home = await createOrganization(app, { name: 'Harbour & Sons' })
  member = await createMember(app, home.organization)
})
afterAll(async () => {
  await browser.close()
  await app.close()
  await rm(folder, { recursive: true, force: true })
})

const inProject = (path: string) => `/project/${home.project.id}/${path}`
const configs = (path = '') => `/api/projects/${home.project.id}/plugin_configs/${path}`
const plugins = (path = '') => `/api/organizations/${home.organization.id}/plugins/${path}`

async function make(
  name: string,
  code: string,
  { config = [], enabled = false }: { config?: object[]; enabled?: boolean } = {},
) {
  const { key } = home.owner
  const plugin = (await app.post(plugins(), { name }, { key })).body.id as number
  const files = { 'index.ts': code, 'plugin.json': JSON.stringify({ name, config }) }
  await app.patch(plugins(`${plugin}/update_source/`), files, { key })
  const { body } = await app.post(configs(), { plugin, enabled }, { key })
  return { id: body.id as number, plugin }
}

const read = async (id: number) => (await app.get(configs(`${id}/`), { key: home.owner.key })).body

async function capture(event: string, properties: object): Promise<void> {
  await app.post('/capture/', { api_key: home.project.api_token, event, distinct_id: 'ada', properties })
}

async function assertFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
}

const part = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the app' }).getByRole('link', { name })

async function type(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

describe('from nothing', () => {
  it('an app is written, tried before it is saved, saved, switched on, and changes the next event', async () => {
    await browser.visit({ session: home.owner.session, path: inProject('apps') }, async ({ page, audit }) => {
      await page.getByRole('heading', { name: 'No apps yet' }).waitFor()
      await audit()
      await page.getByRole('link', { name: 'Add app' }).first().click()
      await page.getByRole('listitem').first().waitFor()
      await audit()
      await page.getByRole('link', { name: 'Write one' }).click()
      await page.getByLabel('Name').fill('Order value')
      await audit()
      await page.getByRole('button', { name: 'Create app' }).click()

      await page.waitForURL('**/code')
      await page.getByRole('textbox', { name: 'index.ts' }).waitFor()
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByLabel('The event, before and after').getByText('+     "seen_by_app": true').waitFor()
      await page.getByText(/ms, .* of memory/).waitFor()
      await audit()

      // Not saved: what runs is what was typed.
      await type(
        page,
        'index.ts',
        'export function processEvent(event) {\n  console.log("looked at " + event.event)\n  event.properties.eur = event.properties.usd * 0.9\n  return event\n}\n',
      )
      await page.getByRole('img', { name: 'not saved' }).waitFor()
      await page.keyboard.press('Control+Enter')
      await page.getByText('+     "eur": 9').waitFor()
      await page.getByText('looked at order paid').waitFor()
      const [saved] = (await app.get(configs(), { key: home.owner.key })).body.results
      expect(
        (await app.get(plugins(`${saved.plugin}/source/`), { key: home.owner.key })).body['index.ts'],
      ).toContain('Return null to drop')

      // A reload loses nothing of it.
      await page.reload()
      await page.getByRole('img', { name: 'not saved' }).waitFor()
      await page.getByRole('textbox', { name: 'index.ts' }).click()
      await page.keyboard.press('Control+s')
      await page.getByText('Saved.').waitFor()
      await page.getByRole('button', { name: 'Switch on' }).click()
      await page.getByText('Order value is on.').waitFor()

      await capture('order paid', { usd: 20 })
      await expect
        .poll(
          async () =>
            (await app.get(`/api/projects/${home.project.id}/events/`, { key: home.owner.key })).body
              .results[0]?.properties,
        )
        .toMatchObject({ usd: 20, eur: 18 })

      // What it said comes by itself.
      await part(page, 'Logs').click()
      await page.getByText('Live').waitFor()
      await page
        .getByRole('row', { name: /looked at order paid/ })
        .first()
        .waitFor()
      await capture('order shipped', { usd: 1 })
      await page.getByRole('row', { name: /looked at order shipped/ }).waitFor()
      await audit()
    })
  })

  it('code that is wrong says where, before and after it is saved', async () => {
    const { id } = await make('Wrong', 'export function processEvent(event) { return event }')
    await browser.visit(
      { session: home.owner.session, path: inProject(`apps/${id}/code`) },
      async ({ page, audit }) => {
        await type(page, 'index.ts', 'export function processEvent(event) {\n  return event.')
        await page.keyboard.press('Control+Space')
        await page.getByRole('option', { name: /distinct_id/ }).waitFor()
        await page.keyboard.press('Escape')
        // Who has left the editor meanwhile is shown no list: it would lie over the code, and no key would close it.
        await page.keyboard.press('Control+Space')
        await page.evaluate('document.activeElement.blur()')
        await page.getByRole('button', { name: 'Try it' }).click()
        await page.getByText('Failed').waitFor()
        expect(await page.getByRole('listbox').count()).toBe(0)
        const wrong = page.getByRole('list', { name: 'What is wrong in the code' })
        await wrong.getByRole('button', { name: /index\.ts:2:/ }).waitFor()
        await audit()

        // What came of another event, or of other code, goes.
        const trial = page.getByRole('region', { name: 'Try it' })
        await type(page, 'The event', '{"event": ')
        await page.getByRole('button', { name: 'Try it' }).click()
        await trial.getByText('The event is not a JSON object.').waitFor()
        expect(await trial.getByText('Failed').count()).toBe(0)
        await type(page, 'The event', '{"event": "order paid"}')
        await page.getByRole('button', { name: 'Try it' }).click()
        await trial.getByText('Failed').waitFor()
        await page.getByRole('textbox', { name: 'index.ts' }).press('End')
        await page.keyboard.type(' ')
        await trial.getByText('Failed').waitFor({ state: 'detached' })

        await page.getByRole('button', { name: 'Save code' }).click()
        await page.getByText(/Saved, but it does not run/).waitFor()
        await part(page, 'Settings').click()
        await page
          .getByRole('region', { name: 'What needs attention' })
          .getByRole('button', { name: /Open index\.ts, line 2/ })
          .click()
        await page.waitForURL('**/code?file=index.ts&at=**')
      },
    )
    expect((await read(id)).plugin_info.errors).toHaveLength(1)
  })
})

describe('switching on with code that is not saved', () => {
  it('saves it first; code that does not run leaves the app off', async () => {
    const { id, plugin } = await make('Draft', 'export function processEvent(event) { return event }')
    await browser.visit(
      { session: home.owner.session, path: inProject(`apps/${id}/code`) },
      async ({ page }) => {
        await page.getByRole('button', { name: 'Switch on', exact: true }).waitFor()
        await type(page, 'index.ts', 'export function processEvent(event) {\n  return event.')
        await page.getByRole('button', { name: 'Save and switch on' }).click()
        await page.getByText('it does not run, so Draft stays off').waitFor()
        expect(await page.getByText('Draft is on').count()).toBe(0)
        expect((await read(id)).enabled).toBe(false)

        await type(page, 'index.ts', 'export const processEvent = (event) => event')
        // The page around the editor knows it on its other parts as well.
        await part(page, 'Settings').click()
        await page.getByRole('button', { name: 'Save and switch on' }).click()
        await page.getByText('Draft is on.').waitFor()
      },
    )
    expect((await read(id)).enabled).toBe(true)
    const { body } = await app.get(plugins(`${plugin}/source/`), { key: home.owner.key })
    expect(body['index.ts']).toContain('=> event')
  })

  it('says that stored code does not run, not that all is well', async () => {
    const { id } = await make('Unfit', 'export function processEvent(')
    await browser.visit(
      { session: home.owner.session, path: inProject(`apps/${id}/settings`) },
      async ({ page }) => {
        await page.getByRole('button', { name: 'Switch on' }).click()
        await page.getByText('Unfit is on, but its code does not run').waitFor()
      },
    )
  })
})

describe('code that somebody else has changed meanwhile', () => {
  it('is not overwritten unseen: it is looked at, replaced or taken', async () => {
    const { id, plugin } = await make('Shared', 'export const processEvent = (event) => event')
    const source = async () =>
      (await app.get(plugins(`${plugin}/source/`), { key: home.owner.key })).body['index.ts']
    const changeElsewhere = (code: string) =>
      app.patch(plugins(`${plugin}/update_source/`), { 'index.ts': code }, { key: home.owner.key })
    const mine = 'export const processEvent = () => null // mine'
    const first = 'export const processEvent = (event) => event // first'
    const second = 'export const processEvent = (event) => event // second'
    await browser.visit(
      { session: home.owner.session, path: inProject(`apps/${id}/code`) },
      async ({ page, audit }) => {
        const changed = page.getByRole('alert').filter({ hasText: 'index.ts was changed elsewhere' })
        await type(page, 'index.ts', mine)
        await changeElsewhere(first)
        await page.getByRole('button', { name: 'Save code' }).click()
        await changed.waitFor()
        expect(await source()).toBe(first)
        await audit()
        await page.getByRole('button', { name: 'Look at the difference' }).click()
        const lines = page.getByLabel('index.ts, stored and yours')
        await lines.getByText(`- ${first}`).waitFor()
        await lines.getByText(`+ ${mine}`).waitFor()
        await audit()
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Overwrite it' }).click()
        await page.getByText('Saved.').waitFor()
        expect(await source()).toBe(mine)
        expect(await changed.count()).toBe(0)

        await type(page, 'index.ts', first)
        await changeElsewhere(second)
        await page.getByRole('button', { name: 'Save and switch on' }).click()
        await changed.waitFor()
        await page.getByRole('button', { name: 'Take theirs' }).click()
        await page.getByRole('textbox', { name: 'index.ts' }).getByText('// second').waitFor()
        await page.getByRole('button', { name: 'Switch on', exact: true }).waitFor()
      },
    )
    expect(await source()).toBe(second)
    expect((await read(id)).enabled).toBe(false)
  })
})

describe('settings', () => {
  const FIELDS = [
    { markdown: 'Keys are at [the vendor](https://example.com/keys).' },
    { key: 'host', name: 'Host', required: true, hint: 'Without `https`.' },
    { key: 'token', name: 'Token', secret: true },
    { key: 'mode', name: 'Mode', type: 'choice', choices: ['fast', 'exact'], default: 'fast' },
    { key: 'rules', name: 'Rules', type: 'json', default: { a: 1 } },
    { key: 'cert', name: 'Certificate', type: 'attachment' },
    { key: 'depth', name: 'Depth', visible_if: [['mode', 'exact']] },
  ]

  it('every type of field is filled and stored; a secret is not seen again; what is missing is asked for', async () => {
    const secret = 'a-secret-typed-into-the-console'
    app.canary.plant('setting of an app', secret)
    const { id } = await make('Forwarder', 'export function composeWebhook(event) { return null }', {
      config: FIELDS,
    })
    await browser.visit(
      { session: home.owner.session, path: inProject(`apps/${id}/settings`) },
      async ({ page, audit, expectProblem }) => {
        await page.getByRole('link', { name: 'the vendor' }).waitFor()
        await audit()
        expectProblem(/400 .*plugin_configs/)
        await page.getByRole('button', { name: 'Switch on' }).click()
        await page.getByText('Forwarder cannot be switched on').waitFor()

        await page.getByLabel('Host').fill('example.com')
        await page.getByLabel('Token (optional)').fill(secret)
        expect(await page.getByLabel('Depth (optional)').count()).toBe(0)
        await page.getByRole('combobox', { name: 'Mode (optional)' }).click()
        await page.getByRole('option', { name: 'exact' }).click()
        await page.getByLabel('Depth (optional)').fill('3')
        await type(page, 'Rules', '{"a": [1, 2')
        await page
          .locator('input[type=file]')
          .setInputFiles({ name: 'ca.pem', mimeType: 'text/plain', buffer: Buffer.from('certificate') })
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('This is not JSON.').waitFor()
        await type(page, 'Rules', '{"a": [1, 2]}')
        await page.getByRole('combobox', { name: 'Only these events (optional)' }).fill('order paid')
        await page.keyboard.press('Enter')
        // Leaving the field closes its suggestions.
        await page.keyboard.press('Tab')
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('The settings of Forwarder are saved.').waitFor()
        await page.getByText('ca.pem, 11 B').waitFor()
        await page.getByRole('button', { name: 'Replace Token' }).waitFor()
        await audit()

        // The secret stays where it is left alone.
        await page.getByLabel('Name').fill('Forwarder of ours')
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('The settings of Forwarder of ours are saved.').waitFor()
        await part(page, 'Activity').click()
        await page.getByText('changed its settings').first().waitFor()
        await audit()
      },
    )
    const stored = await read(id)
    expect(stored).toMatchObject({
      enabled: false,
      name: 'Forwarder of ours',
      config: {
        host: 'example.com',
        mode: 'exact',
        depth: '3',
        rules: { a: [1, 2] },
        cert: { name: 'ca.pem' },
      },
      filters: { events: [{ id: 'order paid' }] },
    })
    expect(stored.config.token).toContain('SECRET FIELD')
  })
})

describe('the events of a destination', () => {
  it('may have commas in their names', async () => {
    const { id } = await make('Forwarder', 'export function onEvent() {}')
    await browser.visit(
      { session: member.session, path: inProject(`apps/${id}/settings`) },
      async ({ page }) => {
        const names = page.getByLabel('Only these events').first()
        await names.fill('viewed, then bought')
        await page.keyboard.press('Enter')
        // Leaving the field closes the names that it offers, which lie over the button.
        await page.keyboard.press('Tab')
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('are saved.').waitFor()
      },
    )
    const { filters } = await read(id)
    expect(filters.events.map((each: { id: string }) => each.id)).toEqual(['viewed, then bought'])
  })
})

describe('the list', () => {
  it('is switched, put in order by drag and by keyboard, searched by the palette, and fits a phone', async () => {
    const code = 'export function processEvent(event) { return event }'
    await app.db.run(sql`UPDATE plugin_config SET deleted = true, enabled = false`)
    const ids: number[] = []
    for (const name of ['One', 'Two', 'Three']) ids.push((await make(name, code)).id)
    await make('Broken', 'export function processEvent(')
    const order = async () =>
      (await app.get(configs(), { key: home.owner.key })).body.results
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => name !== 'Broken')

    await browser.visit({ session: home.owner.session, path: inProject('apps') }, async ({ page, audit }) => {
      const grip = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name},`) })
      await page.getByText('Code does not run').filter({ visible: true }).waitFor()
      await audit()
      await page.getByRole('switch', { name: 'Two is on' }).click({ force: true })
      await page.getByText('Two is on.').waitFor()

      await grip('One').focus()
      await page.keyboard.press('ArrowDown')
      await page.getByText('The order is changed.').waitFor()
      await expect.poll(order).toEqual(['Two', 'One', 'Three'])
      await page.getByRole('button', { name: 'Move One, 2 of 3' }).waitFor()

      const from = (await grip('Three').boundingBox())!
      const to = (await grip('Two').boundingBox())!
      await page.mouse.move(from.x + 5, from.y + 5)
      await page.mouse.down()
      await page.mouse.move(to.x + 5, to.y + 5, { steps: 4 })
      await page.mouse.up()
      await expect.poll(order).toEqual(['Three', 'Two', 'One'])

      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('combobox', { name: 'Find anything' }).fill('app three')
      await page.getByRole('option', { name: /Three/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /Three/ }).waitFor()
      await page.goBack()
      await page.getByRole('table', { name: 'Transformations' }).waitFor()
    })
    expect((await read(ids[1]!)).enabled).toBe(true)

    await browser.visit(
      { session: member.session, path: inProject('apps'), width: 360 },
      async ({ page, audit }) => {
        await page.getByText('Code does not run').filter({ visible: true }).waitFor()
        await assertFits(page)
        for (const [part, sign] of [
          ['settings', page.getByLabel('Events that it cannot run on')],
          ['code', page.getByRole('textbox', { name: 'index.ts' })],
          ['logs', page.getByText('Nothing was said yet')],
          ['metrics', page.getByLabel('Time range')],
          ['activity', page.getByText('added it to the project')],
        ] as const) {
          await page.goto(inProject(`apps/${ids[0]}/${part}`))
          await sign.first().waitFor()
          await assertFits(page)
        }
        await page.goto(inProject('apps/new/catalogue'))
        await page.getByRole('listitem').first().waitFor()
        await assertFits(page)
        await audit()
      },
    )
  })

  it('says that it failed, and goes on when it is tried again', async () => {
    await browser.visit(
      { session: home.owner.session, path: inProject('apps/new/write') },
      async ({ page, expectProblem, audit }) => {
        await page.getByLabel('Name').waitFor()
        expectProblem(/500 .*plugin_configs/)
        await app.db.run(sql`ALTER TABLE plugin_metric RENAME TO plugin_metric_away`)
        try {
          await page.getByRole('link', { name: 'Apps' }).first().click()
          await page.getByRole('alert').getByText('The apps could not be loaded').waitFor()
          await audit()
        } finally {
          await app.db.run(sql`ALTER TABLE plugin_metric_away RENAME TO plugin_metric`)
        }
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByRole('table', { name: 'Transformations' }).waitFor()
      },
    )
  })
})

describe('installing', () => {
  it('by address: a refusal stands at the field, a good one is installed and added; then it is removed and restored', async () => {
    await mkdir(join(folder, 'tagger'))
    await writeFile(
      join(folder, 'tagger/plugin.json'),
      JSON.stringify({ name: 'Tagger <img src=x onerror=alert(1)>', config: [] }),
    )
    await writeFile(
      join(folder, 'tagger/index.js'),
      'export function processEvent(event) { event.properties.tag = 1; return event }',
    )
    await browser.visit(
      { session: home.owner.session, path: inProject('apps/new/address') },
      async ({ page, audit, expectProblem }) => {
        await page.getByLabel('Address').waitFor()
        await audit()
        expectProblem(/400 .*plugins\//)
        await page.getByLabel('Address').fill('https://example.com/nothing')
        await page.getByRole('button', { name: 'Install app' }).click()
        await expect.poll(() => page.getByLabel('Address').getAttribute('aria-invalid')).toBe('true')
        expect(await page.getByLabel('Address').inputValue()).toBe('https://example.com/nothing')
        await page.getByLabel('Address').fill(`file:${join(folder, 'tagger')}`)
        await page.getByRole('button', { name: 'Install app' }).click()
        await page.waitForURL('**/settings')
        // What an app calls itself is text.
        await page.getByRole('heading', { name: 'Tagger <img src=x onerror=alert(1)>' }).waitFor()

        await page.getByRole('button', { name: 'More actions' }).click()
        await page.getByRole('menuitem', { name: 'Remove from this project…' }).click()
        await page.getByRole('dialog').getByText('The app stops in this project.').waitFor()
        await audit()
        const address = page.url()
        await page.getByRole('button', { name: 'Remove app' }).click()
        await page.waitForURL('**/apps')
        await page.goto(address)
        await page.getByRole('button', { name: 'Restore app' }).click()
        await page.getByText('is back, and off.').waitFor()
      },
    )
  })
})

describe('errors', () => {
  it('are counted, shown with their line and event, and tried again on that event', async () => {
    const { id } = await make(
      'Fragile',
      'export function processEvent(event) {\n  if (event.properties.usd === 13) throw new TypeError("thirteen")\n  return event\n}',
      { enabled: true },
    )
    await app.patch(configs(`${id}/`), { on_failure: 'pass' }, { key: home.owner.key })
    await capture('order paid', { usd: 13 })
    await expect.poll(async () => (await read(id)).failures_24h).toBe(1)
    await browser.visit({ session: member.session, path: inProject('apps') }, async ({ page, audit }) => {
      await page
        .getByRole('row', { name: /Fragile/ })
        .getByRole('link', { name: '1' })
        .click()
      await page.waitForURL('**/metrics?range=24h')
      await page.getByRole('figure', { name: /how they went/ }).waitFor()
      await audit()
      await page.getByRole('row', { name: 'Open TypeError' }).click()
      await page.getByLabel('The line of the source').getByText('throw new TypeError("thirteen")').waitFor()
      await page.reload()
      await page.getByRole('link', { name: 'index.ts:2:' }).waitFor()
      await audit()
      await page.getByRole('button', { name: 'Try the code on this event' }).click()
      await page.getByRole('textbox', { name: 'The event' }).getByText('order paid').waitFor()
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByRole('region', { name: 'Try it' }).getByText('TypeError').waitFor()

      await part(page, 'Logs').click()
      await page.getByText('error', { exact: true }).first().click()
      await page.waitForURL('**types=**')
      await page
        .getByRole('row', { name: /ERROR: processEvent failed/ })
        .first()
        .click()
      await page.getByRole('dialog').getByText('said by the server').waitFor()
      await audit()
      await page.reload()
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    })
  })
})

describe('deliveries that are lost', () => {
  it('are among what needs attention, on the overview and in the list', async () => {
    const { id } = await make('Lossy', 'export function onEvent() {}', { enabled: true })
    await app.db.run(sql`
      INSERT INTO plugin_metric (project_id, plugin_config_id, category, hour, failures)
      VALUES (${home.project.id}, ${id}, 'onEvent', date_trunc('hour', ${app.services.now()}::timestamptz), 1)`)
    expect(await read(id)).toMatchObject({ error: null, failures_24h: 1 })
    await browser.visit({ session: member.session, path: inProject('overview') }, async ({ page, audit }) => {
      const attention = page.getByRole('region', { name: 'Needs attention' })
      await attention.getByRole('link', { name: /Lossy had 1 failure in 24 h/ }).click()
      await page.waitForURL('**/metrics?range=24h')
      await page.getByRole('link', { name: 'Apps', exact: true }).first().click()
      await page.getByRole('row', { name: /Lossy/ }).getByText('1 failure in 24 h').last().waitFor()
      await page.getByRole('link', { name: 'Lossy' }).click()
      await page.getByRole('button', { name: 'Show what failed' }).waitFor()
      await audit()
    })
  })
})

describe('rights', () => {
  it('an organization that may only use apps sees what it may not do; one that may not is told so', async () => {
    const other = await createOrganization(app)
    const setLevel = (level: number) =>
      app.db.run(
        sql`UPDATE organization SET plugins_access_level = ${level} WHERE id = ${other.organization.id}`,
      )
    await setLevel(3)
    const path = `/project/${other.project.id}/apps/new/write`
    await browser.visit({ session: other.owner.session, path }, async ({ page, audit }) => {
      await page.getByText('The organization may not install apps or write them.').waitFor()
      await page.getByRole('link', { name: 'Catalogue' }).click()
      const install = page.getByRole('button', { name: /^Install/ }).last()
      await install.waitFor()
      expect(await install.getAttribute('aria-disabled')).toBe('true')
      await setLevel(0)
      await page.goto(`/project/${other.project.id}/apps`)
      await page.getByRole('heading', { name: 'Apps are switched off' }).waitFor()
      await audit()
    })
  })

  it('members of a server where admins change apps see that, and why', async () => {
    app.services.settings.plugins_min_write_level = 8
    try {
      const { id } = await make('Guarded', 'export const processEvent = (event) => event')
      await browser.visit({ session: member.session, path: inProject('apps') }, async ({ page, audit }) => {
        const reason = page.getByText('Only admins and owners may change apps on this server.')
        const row = page.getByRole('row', { name: /Guarded/ })
        const flip = row.getByRole('switch')
        // What is drawn lies over the switch itself.
        await flip.hover({ force: true })
        await reason.first().waitFor()
        await flip.click({ force: true })
        expect(await flip.isChecked()).toBe(false)
        await page.getByRole('heading', { name: 'Apps' }).click()
        await reason.waitFor({ state: 'detached' })
        await audit()
        await page.getByRole('button', { name: 'Add app' }).waitFor()
        await page.goto(inProject(`apps/${id}/code`))
        await reason.first().waitFor()
        expect(await page.getByRole('button', { name: 'Save code' }).count()).toBe(0)
        expect(await page.getByRole('button', { name: 'Try it' }).getAttribute('aria-disabled')).toBe('true')
        await page.getByRole('button', { name: 'More actions' }).click()
        const remove = page.getByRole('menuitem', { name: 'Remove from this project…' })
        await remove.focus()
        expect(await remove.getAttribute('aria-disabled')).toBe('true')
        await page.keyboard.press('Enter')
        expect(await page.getByRole('dialog').count()).toBe(0)
      })
      expect(await read(id)).toMatchObject({ enabled: false, deleted: false })
    } finally {
      app.services.settings.plugins_min_write_level = 1
    }
  })

  it('an app that a closed project uses too can be read and tried, not changed', async () => {
    const { key } = home.owner
    const { id, plugin } = await make('Shared', 'export const processEvent = (event) => event')
    const { body: closed } = await app.post(
      `/api/organizations/${home.organization.id}/projects/`,
      { name: 'Closed' },
      { key },
    )
    await app.call('PUT', `/api/projects/${closed.id}/access_controls/`, {
      key,
      body: { access_level: 'none' },
    })
    await app.post(`/api/projects/${closed.id}/plugin_configs/`, { plugin }, { key })
    const path = inProject(`apps/${id}/code`)
    await browser.visit({ session: member.session, path }, async ({ page, audit }) => {
      await page.getByText('A project that you have no access to uses this app as well.').waitFor()
      await page.getByRole('region', { name: 'Code' }).getByText('processEvent').waitFor()
      expect(await page.getByRole('button', { name: 'Save code' }).count()).toBe(0)
      await audit()
      await page.getByRole('button', { name: 'Try it' }).click()
      await page
        .getByRole('region', { name: 'Try it' })
        .getByText('Ran, and left the event as it is')
        .waitFor()
      await page.getByRole('button', { name: 'More actions' }).click()
      const uninstall = page.getByRole('menuitem', { name: 'Uninstall from the organization…' })
      expect(await uninstall.getAttribute('aria-disabled')).toBe('true')
      await uninstall.hover()
      await page.getByRole('tooltip').getByText('Ask an admin of the organization').waitFor()
      await page.getByRole('menuitem', { name: 'Remove from this project…' }).click()
      await page.getByRole('button', { name: 'Remove app' }).waitFor()
    })
    await browser.visit({ session: home.owner.session, path }, async ({ page }) => {
      await page.getByRole('button', { name: 'Save code' }).waitFor()
    })
  })
})
