// `npm run prove`: that exports deliver everything once, and that no tenant keeps another waiting. `-- simulation` runs
// thousands of simulated histories (seeds.ts), `-- crash` the real program under kill -9 (crash/prove.ts), `-- fairness`
// the real program beside destinations that are dead (fairness/prove.ts), `-- many` a thousand exports in a hundred
// projects (many/prove.ts), `-- disk` a data folder whose disk is full for a while (disk/prove.ts), `-- restarts` apps
// that guard events while the program is restarted (restarts/prove.ts), `-- queries` the processes that answer questions
// while they are killed (queries/prove.ts), `-- roles` many processes on PostgreSQL and ClickHouse that are killed and stopped
// (roles/prove.ts); without a word, all.
import { proveCrashes } from './crash/prove.ts'
import { proveDisk } from './disk/prove.ts'
import { proveFairness } from './fairness/prove.ts'
import { proveMany } from './many/prove.ts'
import { proveQueries } from './queries/prove.ts'
import { proveRestarts } from './restarts/prove.ts'
import { proveRoles } from './roles/prove.ts'
import { proveSeeds } from './seeds.ts'

const PARTS = {
  simulation: proveSeeds,
  crash: proveCrashes,
  fairness: proveFairness,
  many: proveMany,
  disk: proveDisk,
  restarts: proveRestarts,
  queries: proveQueries,
  roles: proveRoles,
}

const asked = process.argv[2]
for (const [name, prove] of Object.entries(PARTS)) {
  if (asked !== undefined && asked !== name) continue
  if (!(await prove())) {
    process.exitCode = 1
    break
  }
}
