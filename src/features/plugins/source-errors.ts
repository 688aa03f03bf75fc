// What keeps files of a plugin from running, by the author's own lines: told to whoever saves them, and kept with the
// plugin.
import { storableText } from '../../lib/storable-text.ts'
import type { AppFault } from '../../platform/sandbox/sandbox.ts'

/** Lines and columns count from 1; null where the place is not known. */
export type SourceError = { file: string; line: number | null; column: number | null; message: string }

const MAX_ERRORS = 20
const MAX_NAME_BYTES = 200
const MAX_MESSAGE_BYTES = 2 * 1024

type Position = { line: number; column: number }

export function errorIn(file: string, message: string, position?: Position): SourceError {
  return { file, line: position?.line ?? null, column: position?.column ?? null, message }
}

/** Code that was translated, but fails as soon as it is run. */
export function loadError(file: string, { error: { name, message, stack } }: AppFault): SourceError {
  const [, line, column] = /\bindex\.ts:(\d+):(\d+)/.exec(stack) ?? []
  const said = name === 'Error' || name === '' ? message : `${name}: ${message}`
  return errorIn(file, said, line && column ? { line: Number(line), column: Number(column) } : undefined)
}

/** As many as somebody reads, and as long. */
export function storableErrors(errors: readonly SourceError[]): SourceError[] {
  return errors.slice(0, MAX_ERRORS).map(({ file, line, column, message }) => ({
    file: storableText(file, MAX_NAME_BYTES),
    line,
    column,
    message: storableText(message, MAX_MESSAGE_BYTES),
  }))
}

/** In the form that editors make links of, one a line. */
export function writeErrors(errors: readonly SourceError[]): string {
  return errors
    .map(({ file, line, column, message }) => {
      const place = [file, line, column].filter((part) => part !== null).join(':')
      return `${place}: ${message}`
    })
    .join('\n')
}
