// What a command is: one file each, listed in command-line.ts; the help text is made from these.
import type { Command as Commander } from 'commander'

export type CommandOptions = Record<string, string | boolean | string[] | undefined>

export type Command = {
  /** Two words for a command of a group that command-line.ts names: `events import`. */
  name: string
  description: string
  /** Declares arguments and options on the commander object. */
  options?(command: Commander): void
  run(options: CommandOptions, args: readonly string[]): Promise<void>
}

/** Something the user can mend: shown as one line, without a stack. */
export class UserError extends Error {}
