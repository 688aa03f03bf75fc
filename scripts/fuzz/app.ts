// The application as the tests run it, but on its own: embedded PostgreSQL without fsync, a mail server on loopback.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildHttp, compose } from '../../src/app/compose.ts'
import { readConfig } from '../../src/app/config.ts'
import { migrateAll, openEventStore, openServices } from '../../src/app/services.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'
import type { TestApp } from '../../test/harness/app.ts'
import { Canary } from '../../test/harness/canary.ts'
import { startSmtpServer } from '../../test/stand-ins/smtp.ts'

/** What the fuzz needs of an application; the one of the test harness has it too. */
export type FuzzApp = Pick<TestApp, 'http' | 'db' | 'services' | 'canary'>

export const FUZZ_MEMORY_MB = '512'

/** Sign-up is open and mail goes somewhere, so that more is reached; nobody answers for DNS. */
export const fuzzSettings = (smtpUrl: string) => ({
  RATE_LIMITS: 'off',
  OPEN_SIGNUP: 'on',
  MAX_KEYS_PER_USER: '1000',
  SMTP_URL: smtpUrl,
  DNS_SERVERS: '127.0.0.1:1',
  EVENT_MEMORY_MB: FUZZ_MEMORY_MB,
  // Some of the queries never end.
  QUERY_TIMEOUT_S: '2',
})

export async function openFuzzApp(): Promise<FuzzApp & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-fuzz-'))
  const log = openLog({ level: 'error', format: 'json' })
  // What is in this database need not survive a power cut.
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
  const postgres = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server', settings })
  const db = openDatabase(postgres.connection)
  await migrateAll(db)
  const smtp = await startSmtpServer()
  const config = readConfig({
    SECRET_KEY: randomBytes(32).toString('hex'),
    DATA_DIR: folder,
    ...fuzzSettings(smtp.url),
  })
  const eventStore = await openEventStore(config, db)
  const services = await openServices(config, log, db, eventStore, 'http://longshore.test')
  const parts = compose(services, config)
  const http = buildHttp(config, services, parts, null)
  await http.ready()
  await services.jobs.work(services)
  return {
    http,
    db,
    services,
    canary: new Canary(),
    async close() {
      try {
        await http.close()
        for (const part of Object.values(parts).toReversed()) await part.close()
        await services.close()
        await eventStore.close()
        await smtp.close()
        await db.close()
      } finally {
        await postgres.stop()
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
