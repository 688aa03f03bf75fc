// What people get of organizations that are not theirs, or not theirs to change.
import { runSuite } from './run-suite.ts'

runSuite('tenants')
