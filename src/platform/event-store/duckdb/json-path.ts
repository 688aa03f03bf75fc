// Where something lies in JSON, as DuckDB's functions want to be told.

/** `$."key"` for every key; JSON pointer for the two keys that DuckDB's own paths cannot say. */
export function jsonPath(path: readonly (string | number)[]): string {
  if (path.some((key) => key === '' || key === '*')) {
    const token = (key: string | number) =>
      typeof key === 'number' ? key - 1 : key.replaceAll('~', '~0').replaceAll('/', '~1')
    return path.map((key) => `/${token(key)}`).join('')
  }
  const step = (key: string | number) => {
    if (typeof key === 'string') return `."${key.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    return key < 0 ? `[#${key}]` : `[${key - 1}]`
  }
  return `$${path.map(step).join('')}`
}
