// Who somebody is taken for.
import { runSuite } from './run-suite.ts'

runSuite('people')
