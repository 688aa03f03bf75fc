// What strangers can send to capture.
import { runSuite } from './run-suite.ts'

runSuite('capture')
