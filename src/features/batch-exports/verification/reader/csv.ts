// Records of a CSV file as they come out of it, and one field of each. Line feeds within quotes belong to a field.

const [LINE_FEED, CARRIAGE_RETURN, COMMA, QUOTE] = [0x0a, 0x0d, 0x2c, 0x22]
const NOWHERE = -1

type Field = (chunk: Buffer, start: number, end: number) => void

/**
 * Calls `use` once for each record with the field at that place, without its quotes; with nothing when none is asked for.
 * The field is a stretch of a buffer that is good until the next one comes.
 */
export async function forEachRecord(
  chunks: AsyncIterable<Buffer>,
  { field_at, has_header }: { field_at: number | null; has_header: boolean },
  use: Field,
): Promise<void> {
  const wanted = field_at ?? NOWHERE
  let [isQuoted, isHeader, column] = [false, has_header, 0]
  /** What has been seen of the field in stretches before the present one. */
  let seen: Buffer[] = []
  for await (const chunk of chunks) {
    let from = column === wanted ? 0 : NOWHERE
    const leave = (end: number) => {
      if (from !== NOWHERE && from < end) seen.push(chunk.subarray(from, end))
      from = NOWHERE
    }
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === QUOTE) {
        // A doubled quote closes and opens.
        isQuoted = !isQuoted
        leave(at)
        if (column === wanted) from = at + 1
      } else if (isQuoted) {
        continue
      } else if (byte === COMMA) {
        leave(at)
        column++
        if (column === wanted) from = at + 1
      } else if (byte === LINE_FEED) {
        leave(chunk[at - 1] === CARRIAGE_RETURN ? at - 1 : at)
        if (!isHeader) useJoined(seen, use)
        ;[isHeader, column, seen] = [false, 0, []]
        if (wanted === 0) from = at + 1
      }
    }
    // Outside quotes it can only be the end of a record, whose line feed comes next.
    const isEnding = !isQuoted && chunk.at(-1) === CARRIAGE_RETURN
    leave(isEnding ? chunk.length - 1 : chunk.length)
  }
}

function useJoined(stretches: readonly Buffer[], use: Field): void {
  const whole = stretches.length === 1 ? stretches[0]! : Buffer.concat(stretches)
  use(whole, 0, whole.length)
}
