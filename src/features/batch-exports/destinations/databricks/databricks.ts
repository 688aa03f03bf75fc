// The Databricks destination: through its REST API, so that every call passes the outbound gate.
import { randomUUID } from 'node:crypto'
import type { Destination, TestStep } from '../destination.ts'
import { openApi, type WorkspaceUrl } from './api.ts'
import { openDelivery } from './delivery.ts'
import { inspectDatabricks } from './inspect.ts'
import type { DatabricksConfig } from './kind.ts'
import { openSession, type Session } from './session.ts'
import * as statements from './statements.ts'
import { dropRunFolders } from './volume.ts'

/** A third of what is usual there: a file is sent from memory. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

export const databricks = databricksAt((server_hostname) => `https://${server_hostname}`)

export function databricksAt(workspaceUrl: WorkspaceUrl): Destination<DatabricksConfig> {
  return {
    encoding: () => ({ format: 'JSONLines', compression: 'gzip', max_bytes: MAX_FILE_BYTES, max_rows: null }),
    steps: steps(workspaceUrl),
    tableSql: (config, _run, columns) => statements.createTable(config, config.table_name, columns),
    open: (context) => openDelivery(workspaceUrl, context),
    inspect: (context) => inspectDatabricks(workspaceUrl, context),
    sweep: (context) => dropRunFolders(openApi(workspaceUrl, context), context.runs),
  }
}

function steps(workspaceUrl: WorkspaceUrl): TestStep<DatabricksConfig>[] {
  const step = (
    name: string,
    description: string,
    work: (session: Session, config: DatabricksConfig) => Promise<unknown>,
  ): TestStep<DatabricksConfig> => ({
    name,
    description,
    run: async (context) => void (await work(openSession(openApi(workspaceUrl, context)), context.config)),
  })
  return [
    step(
      'Connection',
      'Checks that the service principal is accepted and may use the SQL warehouse.',
      (session) => session.run('SELECT 1'),
    ),
    step(
      'Schema',
      'Checks that the catalog and the schema exist, and files can be put beside the table.',
      (session, config) => session.run(statements.createVolume(config)),
    ),
    step(
      'Table',
      'Checks that a table can be created in the schema; the one made for this is dropped again.',
      tryTable,
    ),
  ]
}

async function tryTable(session: Session, config: DatabricksConfig): Promise<void> {
  const name = `longshore_test_${randomUUID().replaceAll('-', '')}`
  await session.run(statements.createTable(config, name, [{ name: 'uuid', kind: 'text' }]))
  await session.run(statements.dropTable(config, name))
}
