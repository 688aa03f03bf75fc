import { openSnowflakeWorld } from '../../../../../test/stand-ins/snowflake/world.ts'
import { describeDestination } from '../fixture/suite.ts'

describeDestination('Snowflake', () => openSnowflakeWorld())
