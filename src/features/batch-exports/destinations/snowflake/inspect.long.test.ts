import { openSnowflakeWorld } from '../../../../../test/stand-ins/snowflake/world.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'

let tables = 0
describeTableFaults('Snowflake', () => openSnowflakeWorld({ table_name: `events_${++tables}` }))
