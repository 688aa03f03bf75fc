// Answers of OpenID providers.
import { runSuite } from './run-suite.ts'

runSuite('openid')
