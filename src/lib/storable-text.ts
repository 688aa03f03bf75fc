// Text of unknown origin, made fit for a column of PostgreSQL: no NUL, no half of a character, and not endlessly long.

export function storableText(text: string, max_bytes: number): string {
  // No character takes less than a byte: what lies beyond cannot be kept, and need not be looked at.
  const clean = text
    .slice(0, max_bytes + 1)
    .replaceAll('\0', '')
    .toWellFormed()
  const bytes = Buffer.from(clean)
  if (bytes.length <= max_bytes && text.length <= max_bytes) return clean
  let end = Math.min(max_bytes - ELLIPSIS_BYTES, bytes.length)
  while (isContinuation(bytes[end])) end--
  return `${bytes.subarray(0, end).toString()}…`
}

const ELLIPSIS_BYTES = 3

/** A byte that goes on with a character instead of beginning one. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
