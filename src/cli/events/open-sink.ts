// Where the events of a command go. DuckDB's file has room for one process: with no server at work the command opens the
// stores itself, otherwise it sends to the server.
import type { Command as Commander } from 'commander'
import { closeParts, compose } from '../../app/compose.ts'
import type { Config } from '../../app/config.ts'
import { openEventStore, openMetadata, openServices } from '../../app/services.ts'
import { openServerSink } from '../../features/events/importing/server-sink.ts'
import type { Sink } from '../../features/events/importing/sink.ts'
import { openStoreSink } from '../../features/events/importing/store-sink.ts'
import type { ProjectRow } from '../../features/projects/schema.ts'
import type { Database } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { StoreTaken, type EventStore } from '../../platform/event-store/event-store.ts'
import { openLog, type Log } from '../../platform/log/log.ts'
import { UserError, type CommandOptions } from '../command.ts'
import { takeInstalledConfig } from '../environment.ts'

export type Target = { sink: Sink; token: string; where: string; close(): Promise<void> }

const LISTED_PROJECTS = 50
const PROBE_TIMEOUT_MS = 5_000

export function targetOptions(command: Commander): void {
  command
    .option('--project <id>', 'id of the project; not needed when there is only one')
    .option('--url <address>', 'address of the running server (default: SITE_URL, or HOST and PORT)')
    .option('--token <token>', 'token of a project on the server at --url; no database is opened then')
}

export async function openTarget(options: CommandOptions): Promise<Target> {
  const url = options.url === undefined ? null : serverAddress(String(options.url))
  if (options.token !== undefined) {
    if (url === null) throw new UserError('--token needs --url')
    if (options.project !== undefined)
      throw new UserError('--project and --token both name a project: give one')
    return atServer(url, String(options.token))
  }
  const config = await takeInstalledConfig()
  const log = openLog({ level: 'warn', format: 'json', to: process.stderr })
  const metadata = await openMetadata(config, log, 'command')
  try {
    await metadata.migrate()
    const project = await chooseProject(metadata.db, options.project)
    const store = url === null ? await openStoreIfFree(config, metadata.db) : null
    if (store) return await inStores(config, log, metadata, store, project)
    const target = atServer(url ?? (await runningServer(config)), project.api_token)
    return { ...target, close: () => metadata.close() }
  } catch (error) {
    await metadata.close()
    throw error
  }
}

function atServer(url: string, token: string): Target {
  const sink = openServerSink({ url, token })
  return { sink, token, where: `the server at ${url}`, close: () => sink.close() }
}

async function inStores(
  config: Config,
  log: Log,
  metadata: { db: Database; close(): Promise<void> },
  opened: EventStore,
  project: ProjectRow,
): Promise<Target> {
  try {
    const services = await openServices(config, log, metadata.db, opened, config.SITE_URL ?? '')
    // No app is loaded: what is imported goes past them.
    const parts = compose(services, config)
    await parts.ingest.catchUp()
    const sink = openStoreSink(parts.ingest, project, services.now)
    return {
      sink,
      token: project.api_token,
      where: config.DATA_DIR,
      async close() {
        await closeParts(parts)
        await services.close()
        await opened.close()
        await metadata.close()
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Null when another process, as a rule the server, holds the store. */
async function openStoreIfFree(config: Config, db: Database): Promise<EventStore | null> {
  try {
    return await openEventStore(config, db)
  } catch (error) {
    if (error instanceof StoreTaken) return null
    throw error
  }
}

async function runningServer(config: Config): Promise<string> {
  const url = config.SITE_URL?.replace(/\/$/, '') ?? localAddress(config)
  const isThere = await fetch(`${url}/_livez`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    (answer) => answer.ok,
    () => false,
  )
  if (isThere) return url
  throw new UserError(
    `another process holds the event store, but no server answers at ${url}: give its address with --url`,
  )
}

function localAddress({ HOST, PORT }: Config): string {
  const isEverywhere = HOST === '0.0.0.0' || HOST === '::'
  return `http://${isEverywhere ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
}

function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UserError('--url takes an address that begins with http:// or https://')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

async function chooseProject(db: Database, given: CommandOptions[string]): Promise<ProjectRow> {
  const projects = await db.rows<ProjectRow>(sql`SELECT * FROM project ORDER BY id`)
  if (given !== undefined) {
    const project = projects.find(({ id }) => String(id) === given)
    if (project) return project
    throw new UserError(`there is no project ${String(given)}${listOf(projects)}`)
  }
  if (projects.length === 1) return projects[0]!
  if (projects.length === 0) throw new UserError('there is no project yet: start the server once')
  throw new UserError(`there are several projects: name one with --project${listOf(projects)}`)
}

function listOf(projects: readonly ProjectRow[]): string {
  const shown = projects.slice(0, LISTED_PROJECTS).map(({ id, name }) => `\n  ${id}  ${name}`)
  const more = projects.length - shown.length
  return `:${shown.join('')}${more > 0 ? `\n  and ${more} more` : ''}`
}
