// Tables that somebody else has locked. Redshift has one limit for all that a statement does, so it is this that is tried.
import { describe, expect, it } from 'vitest'
import { Locked } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { events, openDelivery, OTHER_EXPORT_ID, writeRows } from '../sql-table/fixture/attempt.ts'
import { failureOf, useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { startRedshiftServer } from './fixture/server.ts'
import { redshiftKind } from './kind.ts'

const used = useSqlWorld(startRedshiftServer, redshiftKind)
const { deliver, names, sql } = used
const settings = { lock_timeout_ms: 200 }

/** While `work` is done, somebody else holds the lock that writers of Redshift take. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const other = await used.server.admin.connect()
  await other.query(`BEGIN; LOCK TABLE ${used.world.table} IN SHARE ROW EXCLUSIVE MODE`)
  try {
    return await work()
  } finally {
    await other.query('ROLLBACK')
    other.release()
  }
}

describe('a table that somebody has locked', () => {
  it('makes the run give way before a row is sent, and takes it later', async () => {
    await deliver(events(0, 3), { hour: 0 })
    let is_sent = false
    used.world.onStatement('INSERT INTO "longshore_stage"', () => (is_sent = true))
    const error = await whileLocked(() => failureOf(deliver(events(3, 6), { hour: 1, settings })))
    expect(error).toBeInstanceOf(Locked)
    expect((error as Locked).lock).toBe(`a lock on table ${used.world.table}`)
    expect(is_sent).toBe(false)
    expect(await names()).toHaveLength(3)
    await deliver(events(3, 6), { hour: 1, settings })
    expect(await names()).toHaveLength(6)
  })

  it('in the middle of a run turns the whole run away', async () => {
    await deliver(events(0, 3))
    const delivery = await openDelivery(used.world, { batch_export_id: OTHER_EXPORT_ID, settings })
    await writeRows(delivery, events(2, 6))
    expect(await whileLocked(() => failureOf(delivery.finish(stillOurs)))).toBeInstanceOf(Locked)
    await delivery.abort()
    expect(await names()).toHaveLength(3)
    expect(await used.world.leftovers()).toEqual([])
  })
})

it('no statement may take for ever', async () => {
  await sql(
    `CREATE TABLE TABLE_ (uuid text, event text, properties text, timestamp timestamptz,
       statement_limit text DEFAULT current_setting('statement_timeout'));
     ALTER TABLE TABLE_ OWNER TO exporter`,
  )
  await deliver(events(0, 1))
  expect(await sql('SELECT statement_limit FROM TABLE_')).toEqual([{ statement_limit: '2h' }])
})
