import { afterAll, beforeAll } from 'vitest'
import type { PostgresStandIn } from '../../../../../test/stand-ins/postgres.ts'
import type { DestinationKind } from '../destination.ts'
import { describeDestination } from '../fixture/suite.ts'
import { openSqlWorld } from '../sql-table/fixture/world.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'
import { startRedshiftServer } from './fixture/server.ts'
import { redshiftKind } from './kind.ts'

let server: PostgresStandIn
beforeAll(async () => void (server = await startRedshiftServer()))
afterAll(() => server.close())

const openWorld = () => openSqlWorld(server, redshiftKind as unknown as DestinationKind)

describeDestination('Redshift', openWorld)
describeTableFaults('Redshift', openWorld)
