// `npm run prove`: that exports deliver everything once. `-- simulation` runs thousands of simulated histories (seeds.ts),
// `-- crash` the real program under kill -9 (crash/prove.ts); without either, both.
import { proveCrashes } from './crash/prove.ts'
import { proveSeeds } from './seeds.ts'

const part = process.argv[2]
const isProven =
  (part === 'crash' || (await proveSeeds())) && (part === 'simulation' || (await proveCrashes()))
if (!isProven) process.exitCode = 1
