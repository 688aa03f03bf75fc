// JSON as PostgreSQL prints jsonb: keys by length and then by bytes, a blank after each comma and colon, numbers without
// exponents. Strings lose what the delivery leaves out (clean-json.ts).

const REFUSED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\0/g

const clean = (text: string) =>
  text.isWellFormed() && !text.includes('\0') ? text : text.replaceAll(REFUSED, '')

export function jsonbText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clean(value))
  if (typeof value === 'number') return numericText(value)
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return objectText(value as Record<string, unknown>)
}

function objectText(object: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const { key, printed } of membersOf(Object.keys(object))) {
    text += `${text === '' ? '' : ', '}${printed}: ${jsonbText(object[key])}`
  }
  return `{${text}}`
}

type Members = readonly { key: string; printed: string }[]

/** Thousands of events have the same keys, which are sorted once. */
const known = new Map<string, { count: number; members: Members }>()
const MOST_KNOWN = 10_000

function membersOf(keys: readonly string[]): Members {
  const joined = keys.join('\0')
  const found = known.get(joined)
  // The counts must match: a key that holds a NUL itself may look like two.
  if (found?.count === keys.length) return found.members
  const members = inOrder(keys)
  if (keys.some((key) => key.includes('\0'))) return members
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(joined, { count: keys.length, members })
  return members
}

/** When two keys are the same once cleaned, the last one stays. */
function inOrder(keys: readonly string[]): Members {
  const by_name = new Map(keys.map((key) => [clean(key), key]))
  return [...by_name]
    .map(([name, key]) => ({ bytes: Buffer.from(name), key, printed: JSON.stringify(name) }))
    .sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
}

const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/

/** All digits: 1e+21 has 22 of them. */
function numericText(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  const [, sign, first, rest = '', exponent] = EXPONENT.exec(text) ?? []
  if (first === undefined) return text
  const digits = `${first}${rest}`
  const point = 1 + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`
}
