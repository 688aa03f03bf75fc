// Records of a CSV file as they come out of it, and one field of each. Line feeds within quotes belong to a field.

const [LINE_FEED, CARRIAGE_RETURN, COMMA, QUOTE] = [0x0a, 0x0d, 0x2c, 0x22]

/** One byte to a character. */
const isPlain = (text: string) => /^[ -~]*$/.test(text)

/** Calls `use` once for each record with the field at that place, which holds no quotes; '' when none is asked for. */
export async function forEachRecord(
  chunks: AsyncIterable<Buffer>,
  { field_at, has_header }: { field_at: number | null; has_header: boolean },
  use: (field: string) => void,
): Promise<void> {
  let [isQuoted, isHeader, column, field] = [false, has_header, 0, '']
  const end = () => {
    if (!isHeader) use(isPlain(field) ? field : Buffer.from(field, 'latin1').toString())
    ;[isHeader, column, field] = [false, 0, '']
  }
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      // A doubled quote closes and opens.
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) end()
      else if (byte === COMMA && !isQuoted) column++
      else if (column === field_at && byte !== CARRIAGE_RETURN) field += String.fromCharCode(byte)
    }
  }
}
