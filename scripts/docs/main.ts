// `npm run docs`: writes what is made from the code (OpenAPI document, table of errors, schema) anew.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateAll } from '../../src/app/services.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'
import { generatedFiles } from './generated.ts'

const folder = await mkdtemp(join(tmpdir(), 'longshore-docs-'))
const log = openLog({ level: 'error', format: 'json' })
const postgres = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server' })
const db = openDatabase(postgres.connection)
try {
  await migrateAll(db)
  for (const [path, make] of Object.entries(generatedFiles)) {
    const before = await readFile(path, 'utf8').catch(() => '')
    const text = await make(db, before)
    await writeFile(path, text)
    console.log(`${path}: ${text === before ? 'as it was' : 'written'}`)
  }
} finally {
  await db.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
