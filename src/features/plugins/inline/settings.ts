// Settings of apps come as text that people typed.

/** `a, b ,,c` as a, b and c. */
export function readList(value: unknown): string[] {
  if (typeof value !== 'string') return []
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

export const YES_NO = ['No', 'Yes'] as const

export function isYes(value: unknown): boolean {
  return value === 'Yes'
}
