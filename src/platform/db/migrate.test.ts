import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openDatabase, type Database } from './database.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { sql } from './sql.ts'

const { template: _, ...connection } = inject('postgres')
const files = (await readdir(new URL('./migrations/', import.meta.url))).sort()

let admin: Database
let db: Database
let name: string
beforeEach(async () => {
  name = `test_migrate_${randomBytes(6).toString('hex')}`
  admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  await admin.pool.query(`CREATE DATABASE ${name}`)
  db = openDatabase({ ...connection, database: name })
})
afterEach(async () => {
  await db.close()
  await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.close()
})

const applied = async () =>
  (await db.rows<{ name: string }>(sql`SELECT name FROM migration ORDER BY name`)).map((row) => row.name)
const tables = async () =>
  (
    await db.rows<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = 'public'`,
    )
  )[0]!.count

describe('migrate', () => {
  it('applies every file to an empty database, in order, and says which', async () => {
    expect(await pendingMigrations(db)).toEqual(files)
    expect(await migrate(db)).toEqual(files)
    expect(await applied()).toEqual(files)
    expect(await pendingMigrations(db)).toEqual([])
  })

  it('does nothing the second time', async () => {
    await migrate(db)
    const before = await tables()
    expect(await migrate(db)).toEqual([])
    expect(await tables()).toBe(before)
  })

  it('is done once by programs that start at the same moment', async () => {
    const others = [1, 2, 3].map(() => openDatabase({ ...connection, database: name }))
    const results = await Promise.all([db, ...others].map((each) => migrate(each)))
    expect(results.flat().sort()).toEqual(files)
    expect(results.filter((names) => names.length > 0)).toHaveLength(1)
    await Promise.all(others.map((each) => each.close()))
  })

  it('refuses a database that a newer program has been at, and changes nothing', async () => {
    await migrate(db)
    await db.run(sql`INSERT INTO migration (name) VALUES ('9999_of_tomorrow.sql')`)
    await expect(migrate(db)).rejects.toThrow(/newer than this program: it has 9999_of_tomorrow\.sql/)
    expect(await applied()).toEqual([...files, '9999_of_tomorrow.sql'])
  })

  it('empties settings of accounts that are larger than what is taken now', async () => {
    await migrate(db)
    const account = (email: string, config: object, settings: object) =>
      db.run(sql`
        INSERT INTO app_user (uuid, distinct_id, email, first_name, last_name, date_joined, hedgehog_config, notification_settings)
        VALUES (gen_random_uuid(), ${email}, ${email}, '', '', now(), ${config}, ${settings})`)
    const few = { list: Array(2000).fill(1) }
    await account('a', few, few)
    await account('b', { text: 'x'.repeat(10_000) }, { text: 'x'.repeat(100_000) })
    await db.run(sql`DELETE FROM migration WHERE name = '0029_small_settings.sql'`)
    expect(await migrate(db)).toEqual(['0029_small_settings.sql'])
    expect(
      await db.rows(sql`SELECT hedgehog_config, notification_settings FROM app_user ORDER BY email`),
    ).toEqual([
      { hedgehog_config: few, notification_settings: few },
      { hedgehog_config: null, notification_settings: {} },
    ])
  })

  it('leaves nothing half done when a file fails', async () => {
    // A table of ours that is in the way makes the first file fail after it has begun.
    await db.pool.query('CREATE TABLE idempotency_key (anything int)')
    await expect(migrate(db)).rejects.toThrow('already exists')
    expect(await tables()).toBe(1)
    expect(await pendingMigrations(db)).toEqual(files)
  })
})
