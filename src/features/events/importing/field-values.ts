// Values of a field as files have them: JSON as it is, or as text, or as text of text.
import { parseJson } from '../capture/parse-json.ts'

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/**
 * Text that is JSON is read, twice if need be: JSON columns are exported as text, and some held text already. Other text
 * stays what it is. Throws a Refusal for JSON that may not be stored.
 */
export function asJson(value: unknown): unknown {
  return parsed(parsed(value))
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseJson(value)
  } catch (error) {
    if (syntaxFault(value) === null) throw error
    return value
  }
}

/** What is wrong with JSON text, in the parser's words; null when it is JSON. */
export function syntaxFault(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
