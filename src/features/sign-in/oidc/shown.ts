// What providers sent, as admins see it: cut, and fit for storing. Never a token.
import { storableText } from '../../../lib/storable-text.ts'

const MAX_TEXT_BYTES = 300
const MAX_CLAIMS = 50
const MAX_NAME_BYTES = 100

export function shownText(value: unknown): string {
  return storableText(typeof value === 'string' ? value : asJson(value), MAX_TEXT_BYTES)
}

/** Parsing takes any depth, writing does not. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'something nested too deeply'
  }
}

/** Plain values as they are; lists and objects as their text. */
export function shownClaims(claims: object): Record<string, unknown> {
  const shown = Object.entries(claims)
    .filter(([name]) => !/token|secret/i.test(name))
    .slice(0, MAX_CLAIMS)
    .map(([name, value]) => [storableText(name, MAX_NAME_BYTES), isPlain(value) ? value : shownText(value)])
  return Object.fromEntries(shown) as Record<string, unknown>
}

function isPlain(value: unknown): boolean {
  return typeof value === 'boolean' || typeof value === 'number' || value === null
}
