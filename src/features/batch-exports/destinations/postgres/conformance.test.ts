import { afterAll, beforeAll } from 'vitest'
import { startPostgresServer, type PostgresStandIn } from '../../../../../test/stand-ins/postgres.ts'
import type { DestinationKind } from '../destination.ts'
import { describeDestination } from '../fixture/suite.ts'
import { openSqlWorld } from '../sql-table/fixture/world.ts'
import { postgresKind } from './kind.ts'

let server: PostgresStandIn
beforeAll(async () => void (server = await startPostgresServer()))
afterAll(() => server.close())

describeDestination('Postgres', () => openSqlWorld(server, postgresKind as unknown as DestinationKind))
