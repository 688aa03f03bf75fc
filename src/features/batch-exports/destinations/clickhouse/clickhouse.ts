// The ClickHouse destination: through its HTTP interface, so that every call passes the outbound gate.
import { randomUUID } from 'node:crypto'
import { Refused, type Destination, type TestStep } from '../destination.ts'
import { openDelivery } from './delivery.ts'
import { inspectClickHouse } from './inspect.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { createTable } from './new-table.ts'
import { openSession, type Session } from './session.ts'
import { sweepStages } from './stages.ts'
import * as statements from './statements.ts'

/** A file is sent from memory. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

export const clickHouse: Destination<ClickHouseConfig> = {
  encoding: () => ({ format: 'Parquet', compression: 'zstd', max_bytes: MAX_FILE_BYTES, max_rows: null }),
  steps: steps(),
  tableSql: (config, run, columns) => createTable(config, columns, run),
  open: openDelivery,
  inspect: inspectClickHouse,
  sweep: (context) => sweepStages(openSession(context), context.config, context.runs),
}

function steps(): TestStep<ClickHouseConfig>[] {
  const step = (
    name: string,
    description: string,
    work: (session: Session, config: ClickHouseConfig) => Promise<unknown>,
  ): TestStep<ClickHouseConfig> => ({
    name,
    description,
    run: async (context) => void (await work(openSession(context), context.config)),
  })
  return [
    step('Connection', 'Checks that the server answers as ClickHouse does and accepts the user.', (session) =>
      session.run('SELECT 1'),
    ),
    step('Database', 'Checks that the database exists.', findDatabase),
    step('Table', 'Checks that a table can be created, attached to and dropped in the database.', tryTable),
  ]
}

async function findDatabase(session: Session, { database }: ClickHouseConfig): Promise<void> {
  const [row] = await session.run(statements.COUNT_DATABASES, { database })
  if (Number(row?.[0]) === 0)
    throw new Refused(`There is no database ${database} in ClickHouse. Create it, or choose another.`)
}

/** Everything that a run does, on a table without rows: rights and the version of the server are found out by it. */
async function tryTable(session: Session, config: ClickHouseConfig): Promise<void> {
  const name = `longshore_test_${randomUUID().replaceAll('-', '')}`
  const table = nameOf(config, name)
  await session.run(statements.createTestTable(table))
  try {
    await session.run(statements.attach(table, table))
    const asked = { database: config.database, prefix: name }
    await session.run(statements.COUNT_DROPPED, asked)
    await session.run(statements.COUNT_DELETIONS, { ...asked, table: name })
  } finally {
    await session.run(statements.dropTable(config, name))
  }
}
