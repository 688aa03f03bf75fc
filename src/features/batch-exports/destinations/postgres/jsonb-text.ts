// JSON as PostgreSQL prints jsonb: keys by length and then by bytes, a blank after each comma and colon, numbers without
// exponents. Strings lose what the delivery leaves out (clean-json.ts).

const REFUSED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\0/g

export function jsonbText(value: unknown): string {
  if (typeof value === 'number') return numericText(value)
  if (typeof value === 'string') return JSON.stringify(value.replaceAll(REFUSED, ''))
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  // Of two members under one key the last one stays.
  const members = new Map(Object.entries(value).map(([key, member]) => [key.replaceAll(REFUSED, ''), member]))
  const sorted = [...members].map(([key, member]) => ({ bytes: Buffer.from(key), key, member }))
  sorted.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
  return `{${sorted.map(({ key, member }) => `${JSON.stringify(key)}: ${jsonbText(member)}`).join(', ')}}`
}

const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/

/** All digits: 1e+21 has 22 of them. */
function numericText(value: number): string {
  const text = String(value)
  const [, sign, first, rest = '', exponent] = EXPONENT.exec(text) ?? []
  if (first === undefined) return text
  const digits = `${first}${rest}`
  const point = 1 + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`
}
