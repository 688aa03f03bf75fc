// The chain of hashes: what breaks it is found, and writers who come at once do not.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { randomUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { chainText, findBrokenEntry, type ChainedEntry } from './chain.ts'
import { recordActivity, type Activity } from './record.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const ORGANIZATION = '01900000-0000-7000-8000-00000000000a'
const OTHER = '01900000-0000-7000-8000-00000000000b'
const DEED: Activity = {
  organization_id: ORGANIZATION,
  scope: 'Project',
  activity: 'updated',
  item_id: '1',
  name: 'Shop',
}
/** An entry as it is stored, but for what is its own. */
const BLANK = {
  organization_id: ORGANIZATION,
  project_id: null,
  user_id: null,
  key_id: null,
  actor_name: 'system',
  ip: null,
  scope: 'Project',
  activity: 'updated',
  detail: { name: '', changes: [] },
}

/** The same connection, which does something else after each look. */
function pausing(db: Db, afterEachLook: () => Promise<void>): Db {
  const rows: Db['rows'] = async (statement) => {
    const found = await db.rows(statement)
    await afterEachLook()
    return found as never
  }
  return { ...db, rows, transaction: (work) => db.transaction((tx) => work(pausing(tx, afterEachLook))) }
}

function gate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

const actor = () => ({ caller: null, request: { ip: '127.0.0.1' }, now: app.services.now() })

function record(activity: Partial<Activity>): Promise<string> {
  return app.db.transaction((tx) => recordActivity(tx, actor(), { ...DEED, ...activity }))
}

const change = (before: unknown, after: unknown) => [
  { type: 'Project', action: 'changed' as const, field: 'name', before, after },
]

describe('a chain that somebody touched', () => {
  const chain = '01900000-0000-7000-8000-00000000000c'
  let ids: string[]
  let userId: number
  beforeAll(async () => {
    userId = (await createUser(app)).id
    for (let number = 0; number < 5; number++) {
      await record({
        organization_id: chain,
        project_id: 1,
        name: `entry ${number}`,
        changes: change('a', { b: ['c'] }),
      })
    }
    const rows = await app.db.rows<{ id: string }>(
      sql`SELECT id FROM activity_log WHERE organization_id = ${chain} ORDER BY position`,
    )
    ids = rows.map(({ id }) => id)
    await app.db.run(sql`CREATE TABLE untouched AS SELECT * FROM activity_log`)
  })

  /** What is found after the statement; the log is then put back as it was. */
  async function findAfter(statement: string): Promise<string | null> {
    expect((await app.db.pool.query(statement)).rowCount).toBeGreaterThan(0)
    const broken = await findBrokenEntry(app.db)
    await app.db.run(sql`DELETE FROM activity_log`)
    await app.db.run(sql`INSERT INTO activity_log OVERRIDING SYSTEM VALUE SELECT * FROM untouched`)
    expect(await findBrokenEntry(app.db)).toBeNull()
    return broken?.id ?? null
  }

  it.each([
    `project_id = 2`,
    `project_id = NULL`,
    `user_id = 1`,
    `key_id = 'key'`,
    `actor_name = 'somebody else'`,
    `ip = '10.0.0.1'`,
    `ip = NULL`,
    `scope = 'Organization'`,
    `activity = 'created'`,
    `item_id = '2'`,
    `item_id = NULL`,
    `detail = jsonb_set(detail, '{name}', '"other"')`,
    `detail = jsonb_set(detail, '{changes,0,after,b,0}', '"d"')`,
    `detail = jsonb_set(detail, '{changes}', '[]')`,
    `detail = detail || '{"more": 1}'`,
    `created_at = created_at - interval '1 millisecond'`,
    `hash = repeat('0', 64)`,
  ])('shows an altered entry: %s', async (assignment) => {
    expect(await findAfter(`UPDATE activity_log SET ${assignment} WHERE id = '${ids[2]}'`)).toBe(ids[2])
  })

  it('shows a change of who acted', async () => {
    expect(await findAfter(`UPDATE activity_log SET user_id = ${userId} WHERE id = '${ids[0]}'`)).toBe(ids[0])
  })

  it('shows an entry whose id was changed, and one moved to another organization', async () => {
    expect(await findAfter(`UPDATE activity_log SET id = '${OTHER}' WHERE id = '${ids[2]}'`)).toBe(OTHER)
    expect(await findAfter(`UPDATE activity_log SET organization_id = NULL WHERE id = '${ids[2]}'`)).toBe(
      ids[2],
    )
  })

  it('shows the newest entry altered, although none follows', async () => {
    expect(await findAfter(`UPDATE activity_log SET activity = 'created' WHERE id = '${ids[4]}'`)).toBe(
      ids[4],
    )
  })

  it('shows an altered entry whose own hash was made to fit: at the next one', async () => {
    const rows = await app.db.rows<ChainedEntry & { hash: string }>(
      sql`SELECT * FROM activity_log WHERE organization_id = ${chain} ORDER BY position`,
    )
    const forged = chainText({ ...rows[1]!, actor_name: 'somebody else' })
    const hash = createHash('sha256')
      .update(rows[0]!.hash + forged)
      .digest('hex')
    const statement = `UPDATE activity_log SET actor_name = 'somebody else', hash = '${hash}' WHERE id = '${ids[1]}'`
    expect(await findAfter(statement)).toBe(ids[2])
  })

  it.each([0, 1, 3])('shows that entry %i was deleted, at the one behind it', async (index) => {
    expect(await findAfter(`DELETE FROM activity_log WHERE id = '${ids[index]}'`)).toBe(ids[index + 1])
  })

  it('shows several deleted in a row', async () => {
    expect(await findAfter(`DELETE FROM activity_log WHERE id IN ('${ids[1]}', '${ids[2]}')`)).toBe(ids[3])
  })

  it('shows an entry moved to the end', async () => {
    expect(await findAfter(`UPDATE activity_log SET position = DEFAULT WHERE id = '${ids[1]}'`)).toBe(ids[2])
  })

  it('shows two entries that changed places', async () => {
    const [first, second] = (
      await app.db.rows<{ position: string }>(
        sql`SELECT position FROM activity_log WHERE id IN (${ids[1]}, ${ids[2]}) ORDER BY position`,
      )
    ).map(({ position }) => position)
    const swap = `
      UPDATE activity_log SET position = CASE position WHEN ${first} THEN ${second} ELSE ${first} END
      WHERE id IN ('${ids[1]}', '${ids[2]}')`
    await app.db.run(sql`DROP INDEX activity_log_organization`)
    await app.db.run(sql`ALTER TABLE activity_log ALTER COLUMN position SET GENERATED BY DEFAULT`)
    expect(await findAfter(swap)).toBe(ids[2])
    await app.db.run(sql`ALTER TABLE activity_log ALTER COLUMN position SET GENERATED ALWAYS`)
    await app.db.run(
      sql`CREATE UNIQUE INDEX activity_log_organization ON activity_log (organization_id, position DESC)`,
    )
  })

  it('shows an entry that was slipped in', async () => {
    const forged = '01900000-0000-7000-8000-0000000000ff'
    const statement = `
      INSERT INTO activity_log (id, organization_id, actor_name, scope, activity, detail, created_at, hash)
      SELECT '${forged}', organization_id, 'forger', scope, activity, detail, created_at, hash
      FROM activity_log WHERE id = '${ids[4]}'`
    expect(await findAfter(statement)).toBe(forged)
  })

  it('shows a break in one organization, although the others hold', async () => {
    const found = await findAfter(`UPDATE activity_log SET item_id = 'x' WHERE id = '${ids[3]}'`)
    const row = await app.db.row(sql`SELECT organization_id FROM activity_log WHERE id = ${found}`)
    expect(row).toEqual({ organization_id: chain })
  })
})

describe('a chain that nobody touched', () => {
  it('holds for whatever a change can carry', async () => {
    const values = [
      null,
      true,
      0,
      -0,
      1.5,
      1e21,
      5e-324,
      Number.MAX_SAFE_INTEGER,
      '',
      'ünïcode 🙂 " \\ \n\t\u2028',
      ['b', 'a', ['nested']],
      { z: 1, a: { y: 2, b: [{ d: 1, c: 2 }] }, 10: 'x', 9: 'y' },
      new Date(0),
      undefined,
    ]
    for (const value of values) await record({ changes: change(value, [value]) })
    await record({ item_id: null, project_id: 7 })
    await record({ organization_id: null, scope: 'PersonalAPIKey' })
    await record({ organization_id: null, scope: 'PersonalAPIKey' })
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  // Before the log is long: all of it must fit into one look.
  it('holds for whoever looks while an entry is committed behind their back', async () => {
    const written = gate()
    const looked = gate()
    const late = app.db.transaction(async (tx) => {
      await recordActivity(tx, actor(), DEED)
      written.open()
      await looked.passed
    })
    await written.passed
    await record({ organization_id: OTHER })
    const afterEachLook = async () => {
      looked.open()
      await late
      if (!(await app.db.row(sql`SELECT FROM activity_log WHERE detail->>'name' = 'follower'`)))
        await record({ name: 'follower' })
    }
    expect(await findBrokenEntry(pausing(app.db, afterEachLook))).toBeNull()
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  it('holds over more entries than one look takes, by whomever its hashes were made', async () => {
    const last = await app.db.only<{ hash: string }>(
      sql`SELECT hash FROM activity_log WHERE organization_id = ${ORGANIZATION} ORDER BY position DESC LIMIT 1`,
    )
    const entries: (ChainedEntry & { hash: string })[] = []
    for (let number = 0; number < 1100; number++) {
      const entry: ChainedEntry = {
        ...BLANK,
        id: randomUuid(),
        item_id: String(number),
        created_at: app.services.now(),
      }
      const previous = entries.at(-1)?.hash ?? last.hash
      const hash = createHash('sha256')
        .update(previous + chainText(entry))
        .digest('hex')
      entries.push({ ...entry, hash })
    }
    await app.db.run(sql`
      INSERT INTO activity_log (id, organization_id, actor_name, scope, activity, item_id, detail, created_at, hash)
      SELECT id, organization_id, actor_name, scope, activity, item_id, detail, created_at, hash
      FROM jsonb_populate_recordset(NULL::activity_log, ${JSON.stringify(entries)})`)
    await record({})
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  it('holds when many write at once, into one organization and into several', async () => {
    const before = await app.db.run(sql`SELECT FROM activity_log`)
    const writers = Array.from({ length: 60 }, (_, number) =>
      record({ organization_id: number % 4 === 0 ? OTHER : ORGANIZATION, name: `writer ${number}` }),
    )
    await Promise.all(writers)
    expect(await app.db.run(sql`SELECT FROM activity_log`)).toBe(before + 60)
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  it('holds when many change things at once over HTTP', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const path = `/api/organizations/${organization.id}/`
    const requests = Array.from({ length: 8 }, (_, number) => [
      app.patch(path, { name: `Name ${number}` }, { key: owner.key }),
      app.patch(`/api/projects/${project.id}/`, { name: `Project ${number}` }, { key: owner.key }),
      app.post(`${path}projects/`, { name: `New ${number}` }, { key: owner.key }),
    ]).flat()
    for (const { status } of await Promise.all(requests)) expect(status).toBeLessThan(300)
    const written = await app.db.run(sql`SELECT FROM activity_log WHERE organization_id = ${organization.id}`)
    expect(written).toBe(3 + 24)
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  it('has no entry for a change that was rolled back', async () => {
    const before = await app.db.run(sql`SELECT FROM activity_log`)
    const failing = app.db.transaction(async (tx) => {
      await recordActivity(tx, actor(), DEED)
      throw new Error('the change failed')
    })
    await expect(failing).rejects.toThrow('the change failed')
    await record({})
    expect(await app.db.run(sql`SELECT FROM activity_log`)).toBe(before + 1)
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  // The last one, because what it fills the log with is no chain.
  it('is written to without reading what is there, however long it is', async () => {
    await app.db.run(sql`
      INSERT INTO activity_log (id, organization_id, actor_name, scope, activity, detail, created_at, hash)
      SELECT gen_random_uuid(), CASE number % 3 WHEN 0 THEN NULL ELSE ${OTHER}::uuid END, '', '', '', '{}', now(), ''
      FROM generate_series(1, 20000) AS number`)
    await app.db.run(sql`ANALYZE activity_log`)
    const scans = (tx: Db) =>
      tx.row(sql`SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'activity_log'`)
    const [before, after] = await app.db.transaction(async (tx) => {
      const atFirst = await scans(tx)
      for (const organization_id of [ORGANIZATION, OTHER, null, randomUuid()]) {
        await recordActivity(tx, actor(), { ...DEED, organization_id })
      }
      return [atFirst, await scans(tx)]
    })
    expect(after).toBeDefined()
    expect(after).toEqual(before)
  })
})
