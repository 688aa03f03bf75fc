// Start and stop, in order: settings → stores → migrations → listening → first owner → jobs; and back.
import type { FastifyInstance } from 'fastify'
import type { AddressInfo } from 'node:net'
import { syncInlinePlugins } from '../features/plugins/inline/sync.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Damage } from '../platform/event-store/duckdb/journal/files.ts'
import { followChanges } from '../platform/following.ts'
import { SharedLimits } from '../platform/http/shared-limits.ts'
import { openLog, type Log } from '../platform/log/log.ts'
import { closedUntilReady } from './closed-until-ready.ts'
import { buildHttp, compose } from './compose.ts'
import type { Config } from './config.ts'
import { closeDataFolder } from './data-folder.ts'
import { firstStartText, keepFirstStart, makeFirstOwner, type FirstStart } from './first-start.ts'
import type { Role } from './roles.ts'
import { openEventStore, openMetadata, openServices } from './services.ts'
import { plainStores } from './plain-stores.ts'
import { assertUsableFolder, explainListenFault } from './start-faults.ts'
import { Startup } from './startup.ts'

export type RunningServer = { url: string; stop(): Promise<void> }

const REQUESTS_LIMIT_MS = 10_000
const IDLE_SWEEP_MS = 50
// Jobs at work may finish; without an answer of the database they never do.
const SERVICES_LIMIT_MS = 8_000

/** `now` is the real clock unless told otherwise; `signal` stops a start that is still under way. */
export async function serve(
  config: Config,
  print: (text: string) => void,
  { now, signal = new AbortController().signal }: { now?: () => Date; signal?: AbortSignal } = {},
): Promise<RunningServer> {
  const isTerminal = process.stdout.isTTY
  const log = openLog({
    level: config.LOG_LEVEL,
    format: config.LOG_FORMAT ?? (isTerminal ? 'pretty' : 'json'),
  })
  if (process.getuid?.() === 0) log.warn('started as root: give Longshore a user of its own')
  for (const text of plainStores(config)) log.warn(text)
  const startup = new Startup(log, signal)
  try {
    const url = await start(config, print, { startup, log, signal, isTerminal, ...(now ? { now } : {}) })
    return {
      url,
      async stop() {
        await startup.closeAll()
        log.info('stopped')
      },
    }
  } catch (error) {
    await startup.closeAll()
    throw error
  }
}

type StartContext = {
  startup: Startup
  log: Log
  signal: AbortSignal
  /** Whether somebody reads what is printed; otherwise it ends up in a log. */
  isTerminal: boolean
  now?: () => Date
}

async function start(
  config: Config,
  print: (text: string) => void,
  { startup, log, signal, isTerminal, now }: StartContext,
): Promise<string> {
  await startup.step('the data folder', async () => {
    await assertUsableFolder(config.DATA_DIR)
    await closeDataFolder(config.DATA_DIR)
  })
  const openDb = () => openMetadata(config, log, 'server', signal)
  const { db, migrate } = await startup.open('the database', openDb, (metadata) => metadata.close())
  const applied = await startup.step('migrations of the database', migrate)
  // In one line: a first start applies all of them, and has other things to say.
  if (applied.length > 0) log.info({ count: applied.length, last: applied.at(-1) }, 'migrations applied')
  const openEvents = () =>
    openEventStore(config, db, {
      isWarm: true,
      onLost: (error) => endByItself(log, error),
      onDamage: (damage) => tellDamage(log, damage),
    })
  const eventStore = await startup.open('the event store', openEvents, (store) => store.close())
  const services = await startup.open(
    'the queue of jobs',
    () => openServices(config, log, db, eventStore, config.SITE_URL ?? '', now),
    (opened) => withTimeout(opened.close(), SERVICES_LIMIT_MS, () => undefined),
  )
  await startup.open(
    'changes of other processes',
    () => followChanges(db, services.changes, log),
    (following) => following.stop(),
  )
  // Whoever has a store of its own is alone, and counts alone.
  if (eventStore.is_shared) {
    const limits = new SharedLimits(services)
    startup.toClose('limits', () => withTimeout(limits.close(), SERVICES_LIMIT_MS, () => undefined))
  }
  const parts = compose(services, config)
  const { definitions, ingest, plugins, exports, verifier } = parts
  startup.toClose('definitions', () => withTimeout(definitions.close(), SERVICES_LIMIT_MS, () => undefined))
  startup.toClose('ingestion', () => ingest.close())
  startup.toClose('plugins', () => withTimeout(plugins.close(), SERVICES_LIMIT_MS, () => undefined))
  startup.toClose('exports', () => withTimeout(exports.close(), SERVICES_LIMIT_MS, () => undefined))
  startup.toClose('verification', () => withTimeout(verifier.close(), SERVICES_LIMIT_MS, () => undefined))
  await startup.step('copies of persons for the event store', () => ingest.catchUp())
  await startup.step('apps', async () => {
    await syncInlinePlugins(services.db, services.now())
    await plugins.load()
  })
  const app = buildHttp(config, services, parts, publicUrl(config))
  startup.toClose('HTTP', () => finishRequests(app))
  const open = closedUntilReady(app)
  await startup.step('the port', () => listen(app, config))
  const url = publicUrl(config) ?? addressOf(config.HOST, app.server.address() as AddressInfo)
  services.settings.site_url = url
  let introduction = `Longshore is ready at ${url}\n`
  const keep = (first: FirstStart) => {
    introduction = isTerminal ? firstStartText(url, first) : introduction + keepFirstStart(config, url, first)
  }
  const has = (role: Role) => config.ROLES.includes(role)
  // Nobody else is asked to sign up, or would find where its credentials were written down.
  if (has('api')) await startup.step('the first owner', () => makeFirstOwner(services, config, keep))
  open()
  await startup.step('background jobs', async () => {
    // Whoever holds the events' files is the only one who can be at work on them.
    const takes_over = !eventStore.is_shared
    await plugins.start({ works: has('plugins'), takes_over })
    if (!has('worker')) return
    await services.jobs.work(services)
    await exports.start({ takes_over })
    await verifier.start({ takes_over })
  })
  print(introduction)
  return url
}

function tellDamage(log: Log, damage: Damage): void {
  if (damage.is_inside)
    log.error(damage, 'part of the journal of events could not be read: it is in journal/damaged')
  // What a killed server was writing: nobody was told that it is stored.
  else log.info(damage, 'the journal of events ended in the middle of a record')
}

/** Only a fresh process gets the store of events back: whoever watches over us starts one. */
function endByItself(log: Log, error: Error): void {
  log.fatal({ err: error }, 'the event store fell')
  process.exitCode = 1
  process.kill(process.pid, 'SIGTERM')
}

/** Requests in flight may finish, their connections go as soon as they are idle; whoever takes longer is cut off. */
async function finishRequests(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
  const cutOff = setTimeout(() => app.server.closeAllConnections(), REQUESTS_LIMIT_MS)
  await app.close()
  clearInterval(sweep)
  clearTimeout(cutOff)
}

async function listen(app: FastifyInstance, config: Config): Promise<void> {
  try {
    await app.listen({ host: config.HOST, port: config.PORT })
  } catch (error) {
    throw explainListenFault(config, error)
  }
}

function publicUrl(config: Config): string | null {
  return config.SITE_URL?.replace(/\/$/, '') ?? null
}

function addressOf(host: string, { port }: AddressInfo): string {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return `http://${isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
