import { proveCrashes } from './prove.ts'
if (!(await proveCrashes())) process.exitCode = 1
