// Values and names written into a statement. Numbers stand in it as they are: thousands of bounds would not fit into the
// address of a request, where parameters go.

function whole(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error('not a whole number')
  return String(value)
}

export const SPELLING = {
  whole,
  instant: (date: Date) => `fromUnixTimestamp64Milli(${whole(date.getTime())}, 'UTC')`,
}

export function textLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
}

export function identifier(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Milliseconds since 1970, cut towards the past: the engine's own function cuts towards 1970. */
export function milliseconds(time: string): string {
  const micros = `toUnixTimestamp64Micro(${time})`
  return `intDiv(${micros} - positiveModulo(${micros}, 1000), 1000)`
}
