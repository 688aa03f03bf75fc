// Connections that are silent, slow or many.
import { runSuite } from './run-suite.ts'

runSuite('connections')
