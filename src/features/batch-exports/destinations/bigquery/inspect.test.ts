// @module-tag slow
import { openBigQueryWorld } from '../../../../../test/stand-ins/bigquery/world.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'

let tables = 0
describeTableFaults('BigQuery', () => openBigQueryWorld({ table_id: `events_${++tables}` }))
