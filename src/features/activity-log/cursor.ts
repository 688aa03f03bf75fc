// A place in the log and the way to read from it, as the `cursor` of the links between pages.
import { invalid } from '../../platform/http/errors.ts'

export type Cursor = { direction: 'older' | 'newer'; position: string }

/** Where a reader without a cursor stands: past the newest entry. */
export const NEWEST: Cursor = { direction: 'older', position: String(2n ** 63n - 1n) }

export function writeCursor({ direction, position }: Cursor): string {
  return `${direction === 'older' ? 'o' : 'n'}${position}`
}

export function readCursor(text: string): Cursor {
  const [, letter, position] = /^([on])(\d{1,18})$/.exec(text) ?? []
  if (position === undefined) throw invalid('cursor', 'invalid_input', 'This cursor is not valid.')
  return { direction: letter === 'o' ? 'older' : 'newer', position }
}
