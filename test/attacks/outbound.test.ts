// Whom the server can be made to call.
import { runSuite } from './run-suite.ts'

runSuite('outbound')
