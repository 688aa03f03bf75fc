// Texts kept to a length, without leaving half of a character at the end.

/** Counts characters as people do not: by code point, so that no pair is torn apart. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('')
}
