// Numbered SQL files, each applied once and in order, all that are due in one transaction, by one process at a time.
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Database } from './database.ts'
import { sql } from './sql.ts'

// The build copies the folder beside the bundle, so the same relative address holds in both places.
const FOLDER = new URL('./migrations/', import.meta.url)
// Read once: a rebuild beside a running server must not make it look out of date.
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort()
const ADVISORY_LOCK = 7_061_001

/** Names of the migrations that this call applied. */
export async function migrate(db: Database): Promise<string[]> {
  return db.transaction(async (tx) => {
    await tx.run(sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`)
    await tx.run(
      sql`CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
    )
    const applied = new Set(
      (await tx.rows<{ name: string }>(sql`SELECT name FROM migration`)).map((row) => row.name),
    )
    const unknown = [...applied].filter((name) => !MIGRATIONS.includes(name))
    if (unknown.length > 0) {
      throw new Error(
        `the database is newer than this program: it has ${unknown.join(', ')}. Start the newer version.`,
      )
    }
    const due = MIGRATIONS.filter((name) => !applied.has(name))
    for (const name of due) {
      await tx.run({ text: await readFile(new URL(name, FOLDER), 'utf8'), values: [] })
      await tx.run(sql`INSERT INTO migration (name) VALUES (${name})`)
    }
    return due
  })
}

/** Migrations that are still due: what readiness asks. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const applied = await db.rows<{ name: string }>(sql`SELECT name FROM migration`).catch(() => [])
  return MIGRATIONS.filter((name) => !applied.some((row) => row.name === name))
}
