// From JSON text to a value that is harmless for everything behind it: nesting is bounded, texts can be stored, and no key
// changes a prototype.
import { invalidPayload } from './refusal.ts'

export const MAX_DEPTH = 100
const FORBIDDEN_KEY = '__proto__'
// Only escapes can write NUL, a lone surrogate or a disguised `__proto__`. Hardly any body has them, and looking at the
// text once is ten times cheaper than at each of its strings.
const SUSPECT = /\\u(?:00[0-7]|d)|__proto__/i

/**
 * NUL characters are removed and lone surrogates replaced, since JSON stores take neither; `__proto__` is left out.
 * Numbers are what JSON.parse makes of them. Throws a Refusal.
 */
export function parseJson(text: string): unknown {
  const value = parse(text)
  if (SUSPECT.test(text) || !text.isWellFormed()) return cleaned(value, 1)
  assertDepth(value, 1)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidPayload('The body is not valid JSON.')
  }
}

function assertDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw invalidPayload(`JSON may be nested ${MAX_DEPTH} levels deep at most.`)
  for (const inner of Array.isArray(value) ? value : Object.values(value)) assertDepth(inner, depth + 1)
}

/** Changes lists and objects in place. */
function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw invalidPayload(`JSON may be nested ${MAX_DEPTH} levels deep at most.`)
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = cleaned(value[at], depth + 1)
    return value
  }
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const name = cleanedText(key)
    const inner = cleaned(fields[key], depth + 1)
    if (name !== key || name === FORBIDDEN_KEY) delete fields[key]
    if (name !== FORBIDDEN_KEY) fields[name] = inner
  }
  return value
}

function cleanedText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()
}
