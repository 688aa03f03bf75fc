// What can be tried out before the first run, in order.
import type { TestStep } from '../destination.ts'
import { ATTEMPTS_OF_TESTS, connect, type ConnectContext, type ServerConfig } from './connect.ts'
import { qualified, type TableName } from './identifiers.ts'
import type { Session } from './session.ts'
import { assertSchema, findTable } from './table.ts'

const PROBE_TABLE = 'longshore_test_step'

export function tableSteps<Config extends ServerConfig>(
  nameOf: (config: Config) => TableName,
): readonly TestStep<Config>[] {
  return [
    {
      name: 'Connect',
      description: 'Checks that the server can be reached under TLS and takes the login.',
      run: (context) => withSession(context, async () => {}),
    },
    {
      name: 'Schema usable',
      description: 'Checks that the schema exists.',
      run: (context) =>
        withSession(context, (session) => assertSchema(session, nameOf(context.config).schema)),
    },
    {
      name: 'Table creatable',
      description:
        'Checks that the table takes rows, or that one can be made in the schema; that one is dropped again.',
      run: (context) => withSession(context, (session) => assertTableUsable(session, nameOf(context.config))),
    },
  ]
}

async function withSession(
  context: ConnectContext,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const session = await connect(context, ATTEMPTS_OF_TESTS)
  try {
    await work(session)
  } finally {
    await session.close()
  }
}

async function assertTableUsable(session: Session, name: TableName): Promise<void> {
  const table = await findTable(session, name)
  await session.run('BEGIN')
  // Never committed: nobody sees the table, and nothing stays behind when the connection is lost.
  if (table === null)
    await session.run(`CREATE TABLE ${qualified({ ...name, table: PROBE_TABLE })} (probe INTEGER)`)
  else await session.run(`INSERT INTO ${table.name} SELECT * FROM ${table.name} WHERE 1 = 0`)
  await session.run('ROLLBACK')
}
