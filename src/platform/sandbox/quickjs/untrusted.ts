// Takes in what a guest wrote: JSON that may try to reach our prototypes, arguments that may be anything.

/** What the guest is told; everything else that goes wrong stays here. */
export class Refusal extends Error {}

// Deeper ones overflow the stack of whoever compares, copies or prints them.
const MAX_DEPTH = 500

/** Keys named `__proto__` are left out: some later `object[key] = value` would set a prototype with them. */
export function parseUntrusted(text: string): unknown {
  if (text.length > MAX_DEPTH * 2 && depthOf(text) > MAX_DEPTH) throw new Refusal('it is nested too deep')
  // Escapes may spell it too, and reading with a function takes ten times as long.
  if (!text.includes('__proto__') && !text.includes('\\u')) return JSON.parse(text)
  return JSON.parse(text, function (this: unknown, key, value: unknown) {
    return key === '__proto__' ? undefined : value
  })
}

/** How deep objects and lists are nested. */
function depthOf(json: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === 0x22) isText = !isText
    else if (isText) at += code === 0x5c ? 1 : 0
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return deepest
}

export function readText(value: unknown, max_length = Infinity): string {
  if (typeof value !== 'string') throw new Refusal('text is expected')
  if (value.length > max_length) throw new Refusal(`at most ${max_length} characters are possible`)
  return value
}

export function readNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refusal('a number is expected')
  return value
}

export function readInteger(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Refusal('an integer is expected')
  return value as number
}

export function readTexts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Refusal('a list is expected')
  return value.map((item) => readText(item))
}
