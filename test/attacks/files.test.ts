// What other users of the machine get of a server that runs as root.
import { describe } from 'vitest'
import { runSuite } from './run-suite.ts'
import { isRoot } from './s24-files.ts'

describe.skipIf(!isRoot)('(needs root)', () => {
  runSuite('files')
})
