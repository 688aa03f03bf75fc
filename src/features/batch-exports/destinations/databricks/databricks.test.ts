import { openDatabricksWorld } from '../../../../../test/stand-ins/databricks/world.ts'
import { describeDestination } from '../fixture/suite.ts'

describeDestination('Databricks', () => openDatabricksWorld({ use_automatic_schema_evolution: false }))
