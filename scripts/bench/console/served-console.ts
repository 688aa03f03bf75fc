// The built program with 10,000 events and 200 exports, and somebody signed in to its console.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { connectionOf, postmasterOf, type Program } from '../../../test/end-to-end/program.ts'
import { CHROMIUM } from '../../../test/harness/chromium.ts'
import { call, firstToken, KEY } from '../../crash/first-project.ts'
import { measureTrees } from '../../process-tree.ts'
import { freshEvents, requestsOf } from '../events/requests.ts'

export const EVENTS = 10_000
export const EXPORTS = 200
const OWNER = { email: 'owner@example.com', password: 'a quite long and odd passphrase 7' }
const CHROMIUM_OPTIONS = { executablePath: CHROMIUM, args: ['--no-sandbox'] }
const SCREEN = { viewport: { width: 1280, height: 800 }, timezoneId: 'UTC', locale: 'en-GB' }

export type ServedConsole = {
  url: string
  /** Where pages of its project are. */
  project: string
  browser: Browser
  /** A browser of its own, signed in. */
  enter(): Promise<BrowserContext>
  /** One with a profile on disk, as people have it: it keeps what it has loaded and compiled. */
  enterWithProfile(): Promise<BrowserContext>
  capture(event: string): Promise<void>
  /** CPU that server, query processes and PostgreSQL have used. */
  cpuSeconds(): Promise<number>
  close(): Promise<void>
}

export async function serveConsole(program: Program): Promise<ServedConsole> {
  const dataDir = program.newDataDir()
  const server = program.serve({
    DATA_DIR: dataDir,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    BOOTSTRAP_API_KEY: KEY,
    BOOTSTRAP_EMAIL: OWNER.email,
    BOOTSTRAP_PASSWORD: OWNER.password,
  })
  const url = await server.url
  const token = await firstToken(dataDir)
  for (const body of requestsOf(freshEvents(EVENTS, 1), token)) await send(url, body)
  await fillExports(url, dataDir)
  const { id } = await call(url, 'GET', '/api/projects/@current/')
  const browser = await chromium.launch(CHROMIUM_OPTIONS)
  const session = await signIn(url)
  const profiles = await mkdtemp(join(tmpdir(), 'longshore-bench-profiles-'))
  const signedIn = async (context: BrowserContext) => {
    await context.addCookies([{ name: 'sessionid', value: session, url }])
    return context
  }
  return {
    url,
    project: `${url}/project/${String(id)}`,
    browser,
    enter: async () => signedIn(await browser.newContext(SCREEN)),
    async enterWithProfile() {
      const profile = await mkdtemp(join(profiles, 'profile-'))
      return signedIn(await chromium.launchPersistentContext(profile, { ...CHROMIUM_OPTIONS, ...SCREEN }))
    },
    capture: (event) =>
      send(url, JSON.stringify({ api_key: token, batch: [{ event, distinct_id: 'bench' }] })),
    async cpuSeconds() {
      const postmaster = await postmasterOf(dataDir)
      return measureTrees([server.pid, ...(postmaster === null ? [] : [postmaster])]).cpu_s
    },
    async close() {
      await browser.close()
      await rm(profiles, { recursive: true, force: true })
      server.kill('SIGTERM')
      await server.ended
    },
  }
}

async function send(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch(`${url}/batch/`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`capture answered ${status}`)
}

/** More than the API would make in one project: the list must stand more than it is given. */
async function fillExports(url: string, dataDir: string): Promise<void> {
  const destination = { type: 'File', config: { prefix: 'bench' } }
  await call(url, 'POST', '/api/projects/@current/batch_exports/', {
    name: 'Export 1',
    interval: 'hour',
    destination,
  })
  const db = openDatabase({ ...connectionOf(dataDir), max: 1 })
  const columns = await db.rows<{ name: string }>(sql`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_name = 'batch_export' AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'name')`)
  const others = columns.map(({ name }) => `"${name}"`).join(', ')
  await db.pool.query(
    `INSERT INTO batch_export (id, name, ${others})
     SELECT gen_random_uuid(), 'Export ' || n, ${others} FROM batch_export, generate_series(2, ${EXPORTS}) AS n`,
  )
  await db.close()
}

async function signIn(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/login/`, { method: 'POST', headers, body: JSON.stringify(OWNER) })
  const session = /sessionid=([^;]+)/.exec(answer.headers.getSetCookie().join('\n'))?.[1]
  if (session === undefined) throw new Error(`signing in answered ${answer.status}`)
  return session
}
