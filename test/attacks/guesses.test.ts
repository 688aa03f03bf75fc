// Guessing over many accounts, links and keys.
import { runSuite } from './run-suite.ts'

runSuite('guesses')
