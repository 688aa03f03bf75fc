// Tables that somebody else has locked, on a real PostgreSQL with real locks.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import { Locked, type Delivery } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { events, openDelivery, OTHER_EXPORT_ID, writeRows } from '../sql-table/fixture/attempt.ts'
import { failureOf, useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { openNamingLocks } from '../sql-table/locks.ts'
import type { Session } from '../sql-table/session.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, names, sql } = used
const settings = { lock_timeout_ms: 200 }

const releases: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const release of releases.splice(0)) await release()
})

/** As somebody at a console has it. */
async function lock(mode: 'ACCESS EXCLUSIVE' | 'SHARE', table = used.world.table) {
  const other = await used.server.admin.connect()
  await other.query(`BEGIN; SET LOCAL application_name = 'a console'; LOCK TABLE ${table} IN ${mode} MODE`)
  const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  let is_held = true
  const release = async () => {
    if (is_held) await other.query('ROLLBACK').then(() => other.release())
    is_held = false
  }
  releases.push(release)
  return { pid: rows[0]!.pid, release }
}

it('a delivery that names locks hands on how to ask whether the run is still ours', async () => {
  const inner: Delivery = {
    write: async () => {},
    finish: (confirm) => confirm([]).then(() => ({ rows: 0, files: [] })),
    abort: async () => {},
  }
  const delivery = await openNamingLocks({} as Session, [], async () => inner)
  await expect(delivery.finish(() => Promise.reject(new Error('taken over')))).rejects.toThrow('taken over')
})

describe('a table that somebody has locked', () => {
  it('makes the run give way, which says what it waits for, and takes it later', async () => {
    await deliver(events(0, 3), { hour: 0 })
    const { pid, release } = await lock('ACCESS EXCLUSIVE')
    const error = await failureOf(deliver(events(3, 6), { hour: 1, settings }))
    expect(error).toBeInstanceOf(Locked)
    expect((error as Locked).lock).toBe(
      `a lock on table ${used.world.table}, held by process ${pid} (a console)`,
    )
    await release()
    expect(await names()).toHaveLength(3)
    expect(await used.world.leftovers()).toEqual([])
    await deliver(events(3, 6), { hour: 1, settings })
    expect(await names()).toHaveLength(6)
  })

  it('is found out before a row is sent to the stage', async () => {
    await deliver(events(0, 3))
    const { release } = await lock('SHARE')
    let is_sent = false
    used.world.onStatement('COPY', () => (is_sent = true))
    const error = await failureOf(deliver(events(2, 6), { batch_export_id: OTHER_EXPORT_ID, settings }))
    expect(error).toBeInstanceOf(Locked)
    expect(is_sent).toBe(false)
    await release()
    expect(await names()).toHaveLength(3)
  })

  it('in the middle of a run turns the whole run away', async () => {
    await deliver(events(0, 3))
    const delivery = await openDelivery(used.world, { batch_export_id: OTHER_EXPORT_ID, settings })
    await writeRows(delivery, events(2, 6))
    const { release } = await lock('SHARE')
    expect(await failureOf(delivery.finish(stillOurs))).toBeInstanceOf(Locked)
    await delivery.abort()
    await release()
    expect(await names()).toHaveLength(3)
    expect(await used.world.leftovers()).toEqual([])
  })

  it('may be that of the ledger', async () => {
    await deliver(events(0, 3), { hour: 0 })
    const ledger = used.world.table.replace('of events', 'longshore_export_runs')
    const { release } = await lock('ACCESS EXCLUSIVE', ledger)
    const error = await failureOf(deliver(events(3, 6), { hour: 1, settings }))
    expect((error as Locked).lock).toContain(`a lock on table ${ledger}, held by process`)
    await release()
    expect(await names()).toHaveLength(3)
  })
})

describe('another run to the same table', () => {
  it('is waited for longer than for a lock of others', async () => {
    const first = await openDelivery(used.world, { hour: 0, settings })
    await writeRows(first, events(0, 3))
    const second = deliver(events(2, 6), { hour: 1, batch_export_id: OTHER_EXPORT_ID, settings })
    // Until it has waited for twice as long as it would for others.
    for (let waited = false; !waited; await sleep(20)) {
      const [row] = await sql(
        `SELECT count(*) > 0 AS waited FROM pg_stat_activity
          WHERE wait_event = 'advisory' AND now() - query_start > interval '400 ms'`,
      )
      waited = row!.waited === true
    }
    expect(await first.finish(stillOurs)).toEqual({ rows: 3, files: [] })
    expect(await second).toEqual({ rows: 4, files: [] })
    expect(await names()).toHaveLength(6)
  })
})

it('no statement may take for ever', async () => {
  await sql(
    `CREATE TABLE TABLE_ (uuid text, event text, properties jsonb, timestamp timestamptz,
       statement_limit text DEFAULT current_setting('statement_timeout'),
       lock_limit text DEFAULT current_setting('lock_timeout'));
     ALTER TABLE TABLE_ OWNER TO exporter`,
  )
  await deliver(events(0, 1))
  await deliver(events(0, 2), { batch_export_id: OTHER_EXPORT_ID })
  const limits = await sql('SELECT statement_limit, lock_limit FROM TABLE_')
  expect(limits).toEqual(Array.from({ length: 2 }, () => ({ statement_limit: '2h', lock_limit: '30s' })))
})
