// Unique keys of the owner's that hold the uuid and more: they decide how many events of one uuid there can be.
// @module-tag slow
import { expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import { contextOf, events, OTHER_EXPORT_ID, uuidOf } from '../sql-table/fixture/attempt.ts'
import { useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, names, sql } = used

const RUN = { id: uuidOf(1001), hour: 0 }
const REPAIR = { ...RUN, attempt: 2, is_repair: true }
const NEXT = { id: uuidOf(1002), hour: 1 }
const OTHER = { id: uuidOf(1003), batch_export_id: OTHER_EXPORT_ID }
const [first] = events(0, 1)
const namesake = first!.with(3, '2024-04-01')

async function make(key: string): Promise<void> {
  const columns = 'id serial, uuid text, event text, properties jsonb, timestamp timestamptz'
  await sql(`CREATE TABLE TABLE_ (${columns}, ${key}); ALTER TABLE TABLE_ OWNER TO exporter`)
  await sql('ALTER SEQUENCE SCHEMA_."of events_id_seq" OWNER TO exporter')
}

async function hasOneRowForUuid(): Promise<boolean> {
  const { inspect } = await used.world.kind.load()
  const { table, close } = await inspect!(contextOf(used.world))
  await close()
  return table!.has_one_row_for_uuid
}

it.each(['UNIQUE (event, uuid)', 'PRIMARY KEY (uuid, event)'])(
  'with %s a uuid has one row, and neither runs nor repairs fail',
  async (key) => {
    await make(key)
    await deliver([first!], RUN)
    await deliver([namesake], NEXT)
    await deliver([namesake], OTHER)
    await deliver([namesake], { ...NEXT, attempt: 2, is_repair: true })
    await sql(`UPDATE TABLE_ SET timestamp = '1999-01-01'`)
    await deliver([first!], REPAIR)
    expect(await names()).toEqual(['e0'])
    expect(await sql(`SELECT FROM TABLE_ WHERE timestamp < '2024-01-01'`)).toEqual([])
    expect(await hasOneRowForUuid()).toBe(true)
  },
)

it.each(['UNIQUE (id, uuid)', 'UNIQUE (uuid, event, timestamp)'])(
  'with %s each event of a uuid has its row',
  async (key) => {
    await make(key)
    await deliver([first!], RUN)
    await deliver([namesake], NEXT)
    await deliver([namesake], OTHER)
    await deliver([first!, first!], REPAIR)
    expect((await names()).length).toBeGreaterThan(1)
    expect(await sql('SELECT DISTINCT timestamp FROM TABLE_')).toHaveLength(2)
    expect(await hasOneRowForUuid()).toBe(false)
  },
)
