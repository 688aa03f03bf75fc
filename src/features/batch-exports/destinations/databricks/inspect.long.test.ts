import { openDatabricksWorld } from '../../../../../test/stand-ins/databricks/world.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'

let tables = 0
describeTableFaults('Databricks', () => openDatabricksWorld({ table_name: `events_${++tables}` }))
