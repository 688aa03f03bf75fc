// Once per test run: one PostgreSQL for everybody and a migrated database to copy from.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrateAll } from '../../src/app/services.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'
import { copyApiDocument } from '../../scripts/api-document.js'
import { copyBrowserLibrary } from '../../scripts/browser-library.js'
import { bundleThreads } from '../../scripts/bundle.js'
import { buildConsole } from '../../scripts/console.js'
import { makeUnlessFresh, sourcesState } from './made-from.ts'

export type TestPostgres = {
  host: string
  port: number
  user: string
  password: string
  template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestPostgres
  }
}

const TEMPLATE = 'longshore_template'

/** What lies beside a bundled program, for tests that run from the sources. */
const BUILT = {
  threads: bundleThreads,
  'browser-library': copyBrowserLibrary,
  document: copyApiDocument,
  console: buildConsole,
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const modules = join(import.meta.dirname, '../../node_modules')
  const state = sourcesState()
  for (const [name, make] of Object.entries(BUILT))
    await makeUnlessFresh(join(modules, `.longshore-${name}`), state, make)
  const folder = await mkdtemp(join(tmpdir(), 'longshore-tests-'))
  // For test/end-to-end/program.ts.
  process.env.TEST_BUILD = await mkdtemp(join(folder, 'build-'))
  const log = openLog({ level: 'error', format: 'json' })
  // Speed for tests only: what these databases hold need not survive a power cut.
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    max_connections: '200',
  }
  const postgres = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server', settings })
  const { host, port, user, password } = postgres.connection
  const admin = openDatabase(postgres.connection)
  await admin.pool.query(`CREATE DATABASE ${TEMPLATE}`)
  const template = openDatabase({ ...postgres.connection, database: TEMPLATE })
  await migrateAll(template)
  await template.close()
  await admin.close()
  project.provide('postgres', { host, port, user, password, template: TEMPLATE })
  return async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
