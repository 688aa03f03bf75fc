// The program: hands over to the command line.
import { runCommandLine } from './cli/command-line.ts'

await runCommandLine(process.argv)
