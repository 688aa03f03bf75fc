import { openBigQueryWorld } from '../../../../../test/stand-ins/bigquery/world.ts'
import { describeDestination } from '../fixture/suite.ts'

describeDestination('BigQuery', () => openBigQueryWorld())
