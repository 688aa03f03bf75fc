// JSON as PostgreSQL prints jsonb: keys by length and then by bytes, a blank after each comma and colon, numbers without
// exponents. Strings lose what the delivery leaves out (clean-json.ts).

const REFUSED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|\0/g

const clean = (text: string) =>
  text.isWellFormed() && !text.includes('\0') ? text : text.replaceAll(REFUSED, '')

/** What may be escaped or cleaned; most texts hold none of it, and asking first takes a third of the time. */
const SPECIAL = /["\\\p{Cc}\p{Cs}]/u

export function jsonbText(value: unknown): string {
  if (typeof value === 'string') return SPECIAL.test(value) ? JSON.stringify(clean(value)) : `"${value}"`
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

/** Keys that objects begin with, and where they end there, their order. */
type Beginning = { next: Map<string, Beginning>; members: Members | null }

const newBeginning = (): Beginning => ({ next: new Map(), members: null })

/** Thousands of events have the same keys, which are sorted once. */
let known = newBeginning()
let known_count = 0
const MOST_KNOWN = 20_000

function membersOf(keys: readonly string[]): Members {
  if (known_count >= MOST_KNOWN) [known, known_count] = [newBeginning(), 0]
  let reached = known
  for (const key of keys) {
    let next = reached.next.get(key)
    if (!next) {
      next = newBeginning()
      reached.next.set(key, next)
      known_count++
    }
    reached = next
  }
  return (reached.members ??= inOrder(keys))
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
