// `npm run pictures`: the screenshots of README and docs, taken from the program as it is on sample data, so that they
// stay true. Written to docs/pictures.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { buildProgram } from '../../test/end-to-end/program.ts'
import { fillWorkspace, type Workspace } from './workspace.ts'

const FOLDER = 'docs/pictures'
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const SIZE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 800 }

type Picture = {
  name: string
  path: (workspace: Workspace) => string
  /** Makes the page show what the picture is about. */
  before?: (page: Page) => Promise<unknown>
  theme?: 'light' | 'dark'
  size?: typeof SIZE
}

const project = ({ project_id }: Workspace) => `/project/${project_id}`
const theExport = (workspace: Workspace) => `${project(workspace)}/exports/${workspace.export_id}`
const QUERY =
  'select toStartOfDay(timestamp) as day, count() as events, uniq(person_id) as people from events group by day order by day'

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: (at) => `${project(at)}/overview` },
  { name: 'proof', path: (at) => `${theExport(at)}/proof` },
  { name: 'proof-dark', path: (at) => `${theExport(at)}/proof`, theme: 'dark' },
  { name: 'proof-phone', path: (at) => `${theExport(at)}/proof`, size: PHONE },
  {
    name: 'sql',
    path: (at) => `${project(at)}/sql?q=${encodeURIComponent(QUERY)}`,
    before: async (page) => {
      await page.getByRole('button', { name: /^Run/ }).click()
      await page.locator('canvas').first().waitFor()
    },
  },
  {
    name: 'app',
    path: (at) => `${project(at)}/apps/${at.config_id}/code`,
    before: async (page) => {
      await page.getByRole('button', { name: /^Try/ }).click()
      await page.getByLabel('The event, before and after').waitFor()
    },
  },
  { name: 'events', path: (at) => `${project(at)}/events` },
  { name: 'exports', path: (at) => `${project(at)}/exports` },
  { name: 'runs', path: (at) => `${theExport(at)}/runs` },
  { name: 'new-export', path: (at) => `${project(at)}/exports/new` },
  { name: 'apps', path: (at) => `${project(at)}/apps` },
  { name: 'members', path: (at) => `/organization/${at.organization_id}/members` },
]

const program = await buildProgram()
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
try {
  const workspace = await fillWorkspace(program)
  await mkdir(FOLDER, { recursive: true })
  const wanted = process.argv.slice(2)
  for (const picture of PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    await take(workspace, picture)
    console.log(`${FOLDER}/${picture.name}.png`)
  }
} finally {
  await browser.close()
  await program.remove()
}

async function take(
  workspace: Workspace,
  { name, path, before, theme = 'light', size = SIZE }: Picture,
): Promise<void> {
  const context = await browser.newContext({
    baseURL: workspace.url,
    viewport: size,
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  try {
    await context.addCookies([{ name: 'sessionid', value: workspace.session, url: workspace.url }])
    const page = await context.newPage()
    await page.goto(path(workspace))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await before?.(page)
    // Live parts keep their connection: quiet is when what was asked for is there.
    await page.waitForTimeout(2_500)
    await page.screenshot({ path: join(FOLDER, `${name}.png`) })
  } finally {
    await context.close()
  }
}
