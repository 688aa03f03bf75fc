// The server's files, wires, logs and words.
import { runSuite } from './run-suite.ts'

runSuite('instance')
