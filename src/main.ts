// The program: hands over to the command line.
import { runCommandLine } from './cli/command-line.ts'

// No key in users' data can reach a prototype through an accessor that is not there.
Reflect.deleteProperty(Object.prototype, '__proto__')

await runCommandLine(process.argv)
