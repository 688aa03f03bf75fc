// `npm run pictures`: the screenshots of README and docs/console.md, taken from the console on sample data, so that they
// stay true. Written to docs/pictures.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HOUR_MS } from '../../src/features/batch-exports/fixture/clock.ts'
import { openWorkbench, type Workbench } from '../../src/features/batch-exports/fixture/workbench.ts'
import type { PipelineEvent } from '../../src/features/events/pipeline-event.ts'
import { sampleEvents } from '../../src/features/events/sample/sample-events.ts'
import { launchChromium } from '../harness/chromium.ts'

const FOLDER = 'docs/pictures'
const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 800 }
const DAYS = 3
const EVENTS = 6_000
const QUERY =
  'select toStartOfHour(timestamp) as hour, count() as events, uniq(person_id) as people\nfrom events\ngroup by hour\norder by hour'
const APP = `export function processEvent(event) {
  // Pages are grouped by their first folder.
  const path = event.properties.$pathname ?? '/'
  event.properties.section = path.split('/')[1] || 'home'
  delete event.properties.$ip
  return event
}
`

let folder: string
let bench: Workbench
let exportId: string
let configId: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-pictures-'))
  bench = await openWorkbench({ EXPORT_DIR: folder })
  const { app, key, workspace } = bench
  const project = `/api/projects/${workspace.project.id}`
  const organization = `/api/organizations/${workspace.organization.id}`
  await app.patch(`${organization}/`, { name: 'Harbour Works' }, { key })
  await app.patch(`${project}/`, { name: 'Web shop' }, { key })
  exportId = await bench.create(
    { type: 'File', config: { prefix: 'lake', file_format: 'Parquet', exclude_events: ['$autocapture'] } },
    { name: 'Hourly to the lake' },
  )
  const start = app.services.now()
  const end = new Date(start.getTime() + DAYS * 24 * HOUR_MS)
  const events = [...sampleEvents({ count: EVENTS, seed: 1, days: DAYS, end })].map(asSent)
  for (let hour = 0; hour < DAYS * 24; hour += 1) {
    const [from, to] = [hour, hour + 1].map((at) => start.getTime() + at * HOUR_MS)
    const batch = events.filter(
      ({ timestamp }) => Date.parse(timestamp) >= from! && Date.parse(timestamp) < to!,
    )
    if (batch.length > 0) await app.post('/batch/', { api_key: workspace.project.api_token, batch })
    // The last hour is still open: its events wait.
    if (hour < DAYS * 24 - 1) await bench.pass()
  }
  await bench.verify(exportId)
  const plugin = await app.post(
    `${organization}/plugins/`,
    { plugin_type: 'source', name: 'Sections' },
    { key },
  )
  await app.patch(
    `${organization}/plugins/${plugin.body.id}/update_source/`,
    { 'index.ts': APP, 'plugin.json': JSON.stringify({ name: 'Sections', config: [] }) },
    { key },
  )
  const config = await app.post(
    `${project}/plugin_configs/`,
    { plugin: plugin.body.id, enabled: true },
    { key },
  )
  configId = config.body.id
  await app.http.listen({ host: '127.0.0.1', port: 0 })
}, 600_000)
afterAll(async () => {
  await bench.app.close()
  await rm(folder, { recursive: true, force: true })
})

function asSent({ event, distinct_id, timestamp, properties }: PipelineEvent) {
  return { event, distinct_id, timestamp: new Date(Number(timestamp / 1000n)).toISOString(), properties }
}

type Picture = {
  name: string
  path: string
  /** Makes the page show what the picture is about. */
  before?: (page: Page) => Promise<unknown>
  theme?: 'light' | 'dark'
  size?: typeof WIDE
}

function pictures(): Picture[] {
  const project = `/project/${bench.workspace.project.id}`
  const one = `${project}/exports/${exportId}`
  return [
    { name: 'overview', path: `${project}/overview` },
    { name: 'proof', path: `${one}/proof` },
    { name: 'proof-dark', path: `${one}/proof`, theme: 'dark' },
    { name: 'proof-phone', path: `${one}/proof`, size: PHONE },
    {
      name: 'sql',
      path: `${project}/sql?q=${encodeURIComponent(QUERY)}`,
      async before(page) {
        await page.getByRole('button', { name: /^Run/ }).click()
        await page.locator('canvas').first().waitFor()
      },
    },
    {
      name: 'app',
      path: `${project}/apps/${configId}/code`,
      async before(page) {
        await page.getByRole('textbox', { name: 'index.ts' }).waitFor()
        await page.getByRole('button', { name: 'Try it' }).click()
        await page.getByText(/of memory/).waitFor()
      },
    },
    { name: 'events', path: `${project}/events` },
    { name: 'exports', path: `${project}/exports` },
  ]
}

it('takes the pictures', async () => {
  await mkdir(FOLDER, { recursive: true })
  const { app, workspace } = bench
  const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  const browser = await launchChromium()
  try {
    for (const { name, path, before, theme = 'light', size = WIDE } of pictures()) {
      const context = await browser.newContext({
        baseURL: url,
        viewport: size,
        colorScheme: theme,
        reducedMotion: 'reduce',
        timezoneId: 'UTC',
        locale: 'en-GB',
      })
      await context.addCookies([{ name: 'sessionid', value: workspace.owner.session, url }])
      const page = await context.newPage()
      // The server's clock was moved; the browser's goes with it.
      await page.clock.install({ time: app.services.now() })
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await before?.(page)
      // Live parts keep their connection open: there is no moment when nothing is loading.
      await page.waitForTimeout(3_000)
      await page.screenshot({ path: join(FOLDER, `${name}.png`) })
      expect(await page.getByRole('alert').count()).toBe(0)
      await context.close()
    }
  } finally {
    await browser.close()
  }
}, 600_000)
