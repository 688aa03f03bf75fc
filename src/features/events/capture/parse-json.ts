// From JSON text to a value that is harmless for everything behind it: nesting is bounded, texts can be stored, and no key
// changes a prototype.
import { passedBound } from '../../../lib/json-bounds.ts'
import { invalidPayload, tooLarge } from './refusal.ts'

export const MAX_DEPTH = 100
/** A megabyte of an event has a fifth of them at most. Parsing a million takes a few seconds at worst. */
export const MAX_VALUES = 1_000_000
const FORBIDDEN_KEY = '__proto__'
// Only escapes can write NUL, a lone surrogate or a disguised `__proto__`. Hardly any body has them, and looking at the
// text once is ten times cheaper than at each of its strings.
const SUSPECT = /\\u(?:00[0-7]|d)|__proto__/i

/**
 * NUL characters are removed and lone surrogates replaced, since JSON stores take neither; `__proto__` is left out.
 * Numbers are what JSON.parse makes of them. Throws a Refusal, and before anything is parsed if the text is too much.
 */
export function parseJson(text: string, max_values = MAX_VALUES): unknown {
  assertBounds(text, max_values)
  const value = parse(text)
  return SUSPECT.test(text) || !text.isWellFormed() ? cleaned(value) : value
}

function assertBounds(text: string, max_values: number): void {
  const passed = passedBound(text, { depth: MAX_DEPTH, values: max_values })
  if (passed === 'depth') throw invalidPayload(`JSON may be nested ${MAX_DEPTH} levels deep at most.`)
  if (passed === 'values')
    throw tooLarge(`The body holds more than ${max_values} values: send smaller batches.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidPayload('The body is not valid JSON.')
  }
}

/** Changes lists and objects in place. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = cleaned(value[at])
    return value
  }
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const name = cleanedText(key)
    const inner = cleaned(fields[key])
    if (name !== key || name === FORBIDDEN_KEY) delete fields[key]
    if (name !== FORBIDDEN_KEY) fields[name] = inner
  }
  return value
}

function cleanedText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()
}
