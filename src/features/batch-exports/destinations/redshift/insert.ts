// Rows into the stage by INSERT, many at a time: Redshift takes no COPY from its client.
import type { OutputColumn } from '../../definition.ts'
import { withoutBlanks, withoutRefused } from '../sql-table/clean-json.ts'
import { fieldsOf } from '../sql-table/copy-text.ts'
import { quotedList } from '../sql-table/identifiers.ts'
import type { Session } from '../sql-table/session.ts'
import { readLines } from '../read-lines.ts'

export const STAGE = '"longshore_stage"'

/** Redshift allows 16 MB for a statement. */
const STATEMENT_BYTES = 8 * 1000 * 1000
/** Limit of parameters in one statement. */
const MAX_PARAMETERS = 32_767
/** What a VARCHAR holds at most. */
export const MAX_VALUE_BYTES = 65_535

type Row = (string | null)[]

/** Calls `dropped` with the first value of a row whose JSON is too long for the table. */
export async function insertLines(
  session: Session,
  path: string,
  columns: readonly OutputColumn[],
  signal: AbortSignal,
  dropped: (row: string) => void,
): Promise<number> {
  const max_rows = Math.floor(MAX_PARAMETERS / columns.length)
  let rows: Row[] = []
  let bytes = 0
  let count = 0
  const flush = async () => {
    if (rows.length > 0) await insertRows(session, rows, columns)
    count += rows.length
    rows = []
    bytes = 0
  }
  for await (const lines of readLines(path, signal)) {
    for (const line of lines) {
      const row = rowOf(line, columns, dropped)
      const size = row.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0)
      if (rows.length === max_rows || bytes + size > STATEMENT_BYTES) await flush()
      rows.push(row)
      bytes += size
    }
  }
  await flush()
  return count
}

function rowOf(line: string, columns: readonly OutputColumn[], dropped: (row: string) => void): Row {
  const fields = fieldsOf(line)
  return fields.map((field, index) => {
    if (field === null || columns[index]?.kind !== 'json') return field
    const json = withoutBlanks(withoutRefused(field))
    if (Buffer.byteLength(json) <= MAX_VALUE_BYTES) return json
    // A cut value would not be JSON, and one row must not hold up all others.
    dropped(fields[0] ?? '')
    return null
  })
}

async function insertRows(
  session: Session,
  rows: readonly Row[],
  columns: readonly OutputColumn[],
): Promise<void> {
  let parameter = 0
  const values = rows.map((row) => `(${row.map(() => `$${(parameter += 1)}`).join(', ')})`)
  const names = quotedList(columns.map(({ name }) => name))
  await session.run(`INSERT INTO ${STAGE} (${names}) VALUES ${values.join(', ')}`, rows.flat())
}
