// How large a JSON text is as a value, told from the text alone. JSON.parse cannot be told where to stop: ten megabytes of
// `[` keep it busy for half a minute, and a text of many small values takes twenty times the memory that it has bytes.

export type JsonBounds = { depth: number; values: number }

/** The text passes this bound, and was not parsed. */
export class BoundPassed extends Error {
  constructor(readonly bound: keyof JsonBounds) {
    super(`The JSON passes its bound on ${bound}.`)
  }
}

/** For text that somebody sent. Throws BoundPassed, or SyntaxError where it is no JSON. */
export function parseBounded(text: string, bounds: JsonBounds): unknown {
  const passed = passedBound(text, bounds)
  if (passed !== null) throw new BoundPassed(passed)
  return JSON.parse(text)
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Which bound the text passes first; null when it keeps both, or is no JSON. Values are counted by commas and brackets,
 * so a list or an object counts as well as what it holds.
 */
export function passedBound(text: string, bounds: JsonBounds): keyof JsonBounds | null {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1
        values += 1
        if (depth > bounds.depth) return 'depth'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1
        break
      case COMMA:
        values += 1
    }
    if (values > bounds.values) return 'values'
  }
  return null
}

/** Where the string ends that begins at `start`; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return at
}
