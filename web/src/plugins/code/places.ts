// Places in the author's files: lines and columns count from 1, editors count characters from 0.
import type { CodeProblem } from '../../ui/code/CodeEditor'

type Place = { line: number | null; column: number | null }
export type SourceError = Place & { file: string; message: string }

export function offsetOf(text: string, { line, column }: Place): number {
  if (line === null) return 0
  const lines = text.split('\n')
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  const length = lines[line - 1]?.length ?? 0
  return Math.min(text.length, before + Math.min(length, Math.max(0, (column ?? 1) - 1)))
}

/** Each error underlines the word at its place, or what is left of the line. */
export function problemsIn(file: string, text: string, errors: readonly SourceError[]): CodeProblem[] {
  return errors
    .filter((error) => error.file === file)
    .map((error) => {
      const from = offsetOf(text, error)
      const word = /^[\w$]+/.exec(text.slice(from))?.[0].length ?? 0
      const end = text.indexOf('\n', from)
      return {
        from,
        to: word > 0 ? from + word : Math.max(from + 1, end === -1 ? text.length : end),
        message: error.message,
      }
    })
}
