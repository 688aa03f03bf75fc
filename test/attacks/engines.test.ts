// What runs for strangers: their queries and their apps.
import { runSuite } from './run-suite.ts'

runSuite('engines')
