// @module-tag slow
import { afterAll, beforeAll } from 'vitest'
import { startPostgresServer, type PostgresStandIn } from '../../../../../test/stand-ins/postgres.ts'
import type { DestinationKind } from '../destination.ts'
import { describeDestination } from '../fixture/suite.ts'
import { openSqlWorld } from '../sql-table/fixture/world.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'
import { postgresKind } from './kind.ts'

let server: PostgresStandIn
beforeAll(async () => void (server = await startPostgresServer()))
afterAll(() => server.close())

const openWorld = () => openSqlWorld(server, postgresKind as unknown as DestinationKind)

describeDestination('Postgres', openWorld)
describeTableFaults('Postgres', openWorld)
