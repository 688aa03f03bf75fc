// What can be got out of the server, and into its engines.
import { runSuite } from './run-suite.ts'

runSuite('data')
