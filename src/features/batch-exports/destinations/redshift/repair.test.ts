// Repairs in Redshift, beside what the conformance suite asks of every table: the ledger, SUPER, and keys that nothing
// enforces.
import { describe, expect, it } from 'vitest'
import type { OutputColumn } from '../../definition.ts'
import { events, uuidOf, type Values } from '../sql-table/fixture/attempt.ts'
import { useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { startRedshiftServer } from './fixture/server.ts'
import { redshiftKind } from './kind.ts'

const used = useSqlWorld(startRedshiftServer, redshiftKind)
const { deliver, names, sql } = used

const RUN = { id: uuidOf(1001), hour: 0 }
const REPAIR = { ...RUN, attempt: 2, is_repair: true }

describe('a repair', () => {
  it('leaves one entry in the ledger, with the number of rows it brought', async () => {
    await deliver(events(0, 5), RUN)
    await deliver(events(0, 4), REPAIR)
    const entries = await sql('SELECT run_id, rows::int AS rows, disjoint FROM SCHEMA_.longshore_export_runs')
    expect(entries).toEqual([{ run_id: RUN.id, rows: 4, disjoint: true }])
    // The fifth is none of the repair's, and nobody else's to remove.
    expect(await names()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
  })

  it('brings JSON back into SUPER', async () => {
    const config = { properties_data_type: 'super' }
    await deliver(events(0, 2, '{"a":[1]}'), { ...RUN, config })
    await sql(`UPDATE TABLE_ SET properties = '{"a":[2]}'`)
    await deliver(events(0, 2, '{"a":[1]}'), { ...REPAIR, config })
    expect((await used.world.rows()).map(({ properties }) => properties)).toEqual([{ a: [1] }, { a: [1] }])
  })

  it('of persons removes doubles, and leaves newer versions', async () => {
    const columns: OutputColumn[] = ['team_id', 'distinct_id', 'person_id', 'person_version'].map((name) => ({
      name,
      kind: name === 'distinct_id' || name === 'person_id' ? 'text' : 'integer',
    }))
    await sql(
      `CREATE TABLE TABLE_ (team_id bigint, distinct_id text, person_id text, person_version bigint);
       ALTER TABLE TABLE_ OWNER TO exporter`,
    )
    const person = (id: string, version: number): Values => ['1', id, `p${id}`, String(version)]
    const options = { model: 'persons' as const, columns }
    await deliver([person('a', 1), person('b', 1)], { ...RUN, ...options })
    await deliver([person('b', 2)], options)
    await sql(`UPDATE TABLE_ SET person_id = 'tampered' WHERE distinct_id = 'a'`)
    await sql('INSERT INTO TABLE_ SELECT * FROM TABLE_ WHERE person_version = 1')
    await deliver([person('a', 1), person('b', 1)], { ...REPAIR, ...options })
    const found = await sql('SELECT distinct_id, person_id, person_version::int FROM TABLE_ ORDER BY 1')
    expect(found.map(Object.values)).toEqual([
      ['a', 'pa', 1],
      ['b', 'pb', 2],
    ])
  })
})
