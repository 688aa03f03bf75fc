// How stored values are written. They may be anything that JSON can hold.

/** Names that people chose before those of libraries, each in the order of the alphabet. */
export function sortedNames(properties: Readonly<Record<string, unknown>>): string[] {
  const rank = (name: string) => (name.startsWith('$') ? 1 : 0)
  return Object.keys(properties).toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
}

export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return ''
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : JSON.stringify(value)
}

/** In one line, for cells. */
export function cellText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : valueText(value)
}

/** Whether it may be a link: http and https alone, since other schemes can run code. */
export function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) return false
  try {
    return ['http:', 'https:'].includes(new URL(value).protocol)
  } catch {
    return false
  }
}
