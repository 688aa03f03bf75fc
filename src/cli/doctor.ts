// `longshore doctor`: checks settings, stores, mail, DNS and the activity log, and says what to do about what is wrong.
import { existsSync } from 'node:fs'
import { eventFolder, openEmbeddedEvents, openMetadata } from '../app/services.ts'
import type { Config } from '../app/config.ts'
import { holdsInstallation } from '../app/data-folder.ts'
import { plainStores } from '../app/plain-stores.ts'
import { checkMigrations, checkVersion, type Finding } from '../app/health.ts'
import { assertUsableFolder } from '../app/start-faults.ts'
import { findBrokenEntry } from '../features/activity-log/chain.ts'
import { pendingMigrations } from '../platform/db/migrate.ts'
import type { Database } from '../platform/db/database.ts'
import { openTxtLookup } from '../platform/dns/txt.ts'
import { openClickHouse } from '../platform/event-store/clickhouse/client.ts'
import { readVersion } from '../platform/event-store/clickhouse/version.ts'
import { StoreTaken } from '../platform/event-store/event-store.ts'
import { openLog } from '../platform/log/log.ts'
import { openMailer } from '../platform/mail/mail.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'

const MARKS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' }

export const doctor: Command = {
  name: 'doctor',
  description: 'check settings, stores, mail, DNS and the activity log',
  options(command) {
    command.option('--json', 'print the findings as JSON')
  },
  async run(options) {
    const config = takeConfig()
    const findings = [
      { what: 'settings', state: 'ok', detail: 'all are valid' } satisfies Finding,
      await checkFolder(config),
      ...(await checkDatabase(config)),
      await checkEvents(config),
      ...plainStores(config).map((detail): Finding => ({ what: 'encryption', state: 'note', detail })),
      await checkMail(config),
      await checkDns(config),
    ]
    const text = options.json
      ? JSON.stringify(findings, null, 2)
      : findings.map((f) => `${MARKS[f.state]}  ${f.what.padEnd(14)} ${f.detail}`).join('\n')
    process.stdout.write(`${text}\n`)
    if (findings.some((finding) => finding.state === 'wrong')) process.exitCode = 1
  },
}

async function checkFolder(config: Config): Promise<Finding> {
  const what = 'data folder'
  try {
    await assertUsableFolder(config.DATA_DIR)
  } catch (error) {
    return { what, state: 'wrong', detail: error instanceof Error ? error.message : String(error) }
  }
  return (await holdsInstallation(config))
    ? { what, state: 'ok', detail: config.DATA_DIR }
    : { what, state: 'note', detail: `${config.DATA_DIR} holds no installation (DATA_DIR)` }
}

async function checkDatabase(config: Config): Promise<Finding[]> {
  if (!(await holdsInstallation(config)))
    return [{ what: 'database', state: 'note', detail: 'it is made at the first start' }]
  try {
    const metadata = await openMetadata(
      config,
      openLog({ level: 'error', format: 'json', to: process.stderr }),
      'command',
    )
    try {
      return [
        await checkVersion(metadata.db),
        await checkMigrations(metadata.db),
        await checkActivityLog(metadata.db),
      ]
    } finally {
      await metadata.close()
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ what: 'database', state: 'wrong', detail: `${detail} (DATABASE_URL, DATA_DIR)` }]
  }
}

/** The file is opened as a server would, unless one has it open. */
async function checkEvents(config: Config): Promise<Finding> {
  const what = 'events'
  if (config.CLICKHOUSE_URL !== null) return await checkClickHouse(config.CLICKHOUSE_URL)
  if (!existsSync(eventFolder(config)))
    return { what, state: 'note', detail: 'the store is made at the first start' }
  try {
    const store = await openEmbeddedEvents(config)
    await store.close()
    return { what, state: 'ok', detail: 'the store opens' }
  } catch (error) {
    if (error instanceof StoreTaken) return { what, state: 'ok', detail: 'the store is in use by the server' }
    return {
      what,
      state: 'wrong',
      detail: `${error instanceof Error ? error.message : String(error)} (DATA_DIR)`,
    }
  }
}

async function checkClickHouse(url: string): Promise<Finding> {
  const clickhouse = openClickHouse({ url, cluster: null })
  try {
    return { what: 'events', state: 'ok', detail: `ClickHouse ${await readVersion(clickhouse)} answers` }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { what: 'events', state: 'wrong', detail: `${detail} (CLICKHOUSE_URL)` }
  } finally {
    await clickhouse.close()
  }
}

async function checkActivityLog(db: Database): Promise<Finding> {
  if ((await pendingMigrations(db)).length > 0)
    return { what: 'activity log', state: 'note', detail: 'not there yet' }
  const broken = await findBrokenEntry(db)
  return broken
    ? {
        what: 'activity log',
        state: 'wrong',
        detail: `entry ${broken.id} was altered, or one before it is missing`,
      }
    : { what: 'activity log', state: 'ok', detail: 'the chain of entries is whole' }
}

async function checkMail(config: Config): Promise<Finding> {
  if (config.SMTP_URL === null)
    return { what: 'mail', state: 'note', detail: 'not configured: nothing is sent (SMTP_URL)' }
  const mailer = openMailer({ smtp_url: config.SMTP_URL, from: config.MAIL_FROM })
  try {
    await mailer.verify()
    return { what: 'mail', state: 'ok', detail: 'the server answers' }
  } catch (error) {
    return {
      what: 'mail',
      state: 'wrong',
      detail: `${error instanceof Error ? error.message : 'no answer'} (SMTP_URL)`,
    }
  } finally {
    mailer.close()
  }
}

/** A name that cannot exist: NXDOMAIN proves that a resolver answers. */
async function checkDns(config: Config): Promise<Finding> {
  const lookup = openTxtLookup({ servers: config.DNS_SERVERS, timeout_ms: 5_000 })
  const { failure } = await lookup('longshore-doctor.invalid')
  return failure === null || failure === 'ENOTFOUND' || failure === 'ENODATA'
    ? { what: 'DNS', state: 'ok', detail: 'a resolver answers' }
    : { what: 'DNS', state: 'wrong', detail: `no resolver answers: ${failure} (DNS_SERVERS)` }
}
