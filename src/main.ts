// The program: hands over to the command line.
import { runCommandLine } from './cli/command-line.ts'

// Whatever we write is for us alone. Where another user must pass, the place is opened by name.
process.umask(0o077)

// No key in users' data can reach a prototype through an accessor that is not there.
Reflect.deleteProperty(Object.prototype, '__proto__')

await runCommandLine(process.argv)
