// Reading tables of Redshift back, beside what the conformance suite asks of every table: long values, SUPER, folded names.
import { describe, expect, it } from 'vitest'
import type { OutputColumn } from '../../definition.ts'
import type { Digest, TableInspection, TableScope } from '../destination.ts'
import { contextOf, uuidOf, type AttemptOptions, type Values } from '../sql-table/fixture/attempt.ts'
import { useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { addRow, bucketOf } from '../warehouse/digest.ts'
import { startRedshiftServer } from './fixture/server.ts'
import { redshiftKind } from './kind.ts'

const used = useSqlWorld(startRedshiftServer, redshiftKind)

const EVERYTHING: TableScope = { project_id: 1, times: null }
const COLUMNS: OutputColumn[] = [
  { name: 'uuid', kind: 'text', type: 'VARCHAR(200)' },
  { name: 'Properties', kind: 'json' },
  { name: 'one', kind: 'text' },
  { name: 'two', kind: 'text' },
]

/** What the table says and what we say of the same rows. */
async function digests(
  rows: readonly Values[],
  options: AttemptOptions = {},
): Promise<Map<string, Digest>[]> {
  const whole = { columns: COLUMNS, ...options }
  await used.deliver(rows, whole)
  const { inspect } = await used.world.kind.load()
  const { table, close } = await inspect!(contextOf(used.world, whole))
  const here = new Map<string, Digest>()
  for (const row of rows) addRow(here, bucketOf(row[0]!), spelled(table!, row))
  const there = new Map(await table!.digest(EVERYTHING))
  for (const row of rows) {
    expect(await table!.rows(EVERYTHING, bucketOf(row[0]!))).toEqual([spelled(table!, row)])
  }
  await close()
  return [here, there]
}

function spelled(table: TableInspection, row: Values): (string | null)[] {
  expect(table.columns).toEqual(COLUMNS)
  return table.columns.map((column, index) => {
    const value = row[index] ?? null
    return table.spell(column, column.kind === 'json' && value !== null ? JSON.parse(value) : value)
  })
}

describe('digests', () => {
  it('are made of values that would not fit into one text together', async () => {
    const long = (filler: string) => filler.repeat(60_000)
    const rows: Values[] = [
      [uuidOf(1), '{}', long('a'), long('b')],
      [uuidOf(2), JSON.stringify({ filler: long('c') }), 'short', null],
    ]
    const [here, there] = await digests(rows)
    expect(there).toEqual(here)
  })

  it('know that JSON was left out which is too long', async () => {
    const [here, there] = await digests([
      [uuidOf(1), JSON.stringify({ filler: 'c'.repeat(65_530) }), null, null],
    ])
    expect(there).toEqual(here)
  })

  it.each(['varchar', 'super'])('are the same for JSON as %s', async (properties_data_type) => {
    const rows: Values[] = [
      [uuidOf(1), '{"b":1,"a":{"d":[1,2.5,null],"c":"ü\\n"}}', `it's`, ''],
      [uuidOf(2), null, null, null],
    ]
    const [here, there] = await digests(rows, { config: { properties_data_type } })
    expect(there).toEqual(here)
  })
})
