// The Snowflake destination.
import { randomUUID } from 'node:crypto'
import type { Destination, TestStep } from '../destination.ts'
import { quoted } from '../sql-table/identifiers.ts'
import { assertWarehouse, dropStages, openDelivery } from './delivery.ts'
import { inspectSnowflake } from './inspect.ts'
import { snowflakeHost, type SnowflakeConfig } from './kind.ts'
import { connect, type AccessUrl, type Session } from './session.ts'
import { createTable, dropTable } from './statements.ts'

const MAX_FILE_BYTES = 100 * 1024 * 1024

export const snowflake = snowflakeAt((account) => `https://${snowflakeHost(account)}`)

export function snowflakeAt(accessUrl: AccessUrl): Destination<SnowflakeConfig> {
  return {
    encoding: () => ({ format: 'JSONLines', compression: 'gzip', max_bytes: MAX_FILE_BYTES, max_rows: null }),
    steps: steps(accessUrl),
    tableSql: (config, _run, columns) => createTable(config, config.table_name, columns),
    open: (context) => openDelivery(accessUrl, context),
    inspect: (context) => inspectSnowflake(accessUrl, context),
    async *sweep(context) {
      const session = await connect(accessUrl, context)
      try {
        yield* dropStages(session, context.config, context.runs)
      } finally {
        await session.close()
      }
    },
  }
}

function steps(accessUrl: AccessUrl): TestStep<SnowflakeConfig>[] {
  const step = (
    name: string,
    description: string,
    work: (session: Session, config: SnowflakeConfig) => Promise<unknown>,
  ): TestStep<SnowflakeConfig> => ({
    name,
    description,
    async run(context) {
      const session = await connect(accessUrl, context)
      try {
        await work(session, context.config)
      } finally {
        await session.close()
      }
    },
  })
  return [
    step('Connection', 'Checks that Snowflake accepts the credentials.', async () => {}),
    step('Warehouse', 'Checks that the warehouse exists and may be used.', assertWarehouse),
    step('Database', 'Checks that the database exists and may be used.', (session, { database }) =>
      session.run(`USE DATABASE ${quoted(database)}`),
    ),
    step('Schema', 'Checks that the schema exists and may be used.', (session, { database, schema }) =>
      session.run(`USE SCHEMA ${quoted(database)}.${quoted(schema)}`),
    ),
    step(
      'Table',
      'Checks that a table can be created in the schema; the one made for this is dropped again.',
      tryTable,
    ),
  ]
}

async function tryTable(session: Session, config: SnowflakeConfig): Promise<void> {
  const name = `longshore_test_${randomUUID().replaceAll('-', '')}`
  await session.run(createTable(config, name, [{ name: 'uuid', kind: 'text' }]))
  await session.run(dropTable(config, name))
}
