// The command line as a whole: which commands there are, and how their failures are shown.
import { Command as Commander } from 'commander'
import { ConfigError } from '../app/config.ts'
import { VERSION } from '../app/version.ts'
import { errorCode } from '../lib/error-code.ts'
import { ApiError } from '../platform/http/errors.ts'
import { checkQueries } from './check-queries/check-queries.ts'
import { UserError, type Command } from './command.ts'
import { createKey } from './create-key.ts'
import { createUser } from './create-user.ts'
import { doctor } from './doctor.ts'
import { generateEvents } from './events/generate.ts'
import { importEvents } from './events/import.ts'
import { moveEventsCommand } from './events/move.ts'
import { runExport } from './exports/export.ts'
import { verify } from './exports/verify.ts'
import { migrate } from './migrate.ts'
import { bench } from './sample/bench.ts'
import { demo } from './sample/demo.ts'
import { serve } from './serve.ts'

const commands: readonly Command[] = [
  demo,
  serve,
  migrate,
  createUser,
  createKey,
  importEvents,
  generateEvents,
  moveEventsCommand,
  runExport,
  verify,
  bench,
  checkQueries,
  doctor,
]
/** What the first word of a command with two means. */
const groups: Record<string, string> = {
  events: 'import events from files, make sample data, or move events to another store',
}

export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = new Commander('longshore')
    .description("Workspace administration and event export that speaks PostHog's API.")
    .version(VERSION)
    .addHelpText(
      'after',
      '\nWithout a command, longshore starts the server. Settings come from the environment and from .env in the current folder; the README lists them.',
    )
  for (const command of commands) {
    const [name = '', group] = command.name.split(' ').toReversed()
    const parent = group === undefined ? program : groupOf(program, group)
    const sub = parent.command(name).description(command.description)
    command.options?.(sub)
    sub.action(async () => {
      try {
        await command.run(sub.opts(), sub.args)
      } catch (error) {
        process.stderr.write(`longshore ${command.name}: ${explain(error)}\n`)
        process.exitCode = 1
      }
    })
  }
  await program.parseAsync(withCommand(argv))
}

/** `longshore` and `longshore --port 9000` start the server. */
function withCommand([node = '', script = '', ...given]: readonly string[]): string[] {
  const isOwnOption = ['-h', '--help', '-V', '--version'].includes(given[0] ?? '')
  const isServe = given.length === 0 || (given[0]!.startsWith('-') && !isOwnOption)
  return [node, script, ...(isServe ? ['serve'] : []), ...given]
}

function groupOf(program: Commander, name: string): Commander {
  const known = program.commands.find((command) => command.name() === name)
  return known ?? program.command(name).description(groups[name] ?? '')
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UserError) return error.message
  if (error instanceof ApiError) return error.attr === null ? error.detail : `${error.attr}: ${error.detail}`
  if (!(error instanceof Error)) return String(error)
  if (process.env.LOG_LEVEL === 'debug') return error.stack ?? error.message
  // A host with several addresses, none of which answers, is an error without a text.
  return error.message || errorCode(error) || error.name
}
