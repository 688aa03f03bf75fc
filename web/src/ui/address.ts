/** A part of the address as text; the router reads what looks like a number as one. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Those of the names that the address says something of. */
export function textsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { [name in Name]?: string } {
  const texts = names.flatMap((name) => {
    const text = textIn(search[name])
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(texts) as { [name in Name]?: string }
}
