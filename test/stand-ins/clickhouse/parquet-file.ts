// Rows of a test's own as the Parquet file that the ClickHouse destination sends.
import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputColumn } from '../../../src/features/batch-exports/definition.ts'
import { toExportRows, type Row } from '../../../src/features/batch-exports/destinations/fixture/rows.ts'
import type { OutputFile } from '../../../src/features/batch-exports/formats/encoding.ts'
import { openTables, quoted } from '../warehouse/tables.ts'

/** It is gone once the work with it is done. */
export function asParquet(columns: readonly OutputColumn[]) {
  return async (rows: readonly object[], work: (file: OutputFile) => Promise<void>): Promise<void> => {
    const path = join(tmpdir(), `longshore-rows-${randomUUID()}.parquet`)
    const { sql } = toExportRows({ columns, rows: rows as Row[] }).source.query
    const list = columns.map(({ name, kind }, index) => {
      const value = kind === 'timestamp' ? `CAST(c${index + 1} AS TIMESTAMPTZ)` : `c${index + 1}`
      return `${value} AS ${quoted(name)}`
    })
    const tables = await openTables()
    try {
      await tables.run([
        "SET TimeZone = 'UTC'",
        `COPY (SELECT ${list.join(', ')} FROM (${sql})) TO '${path}' (FORMAT parquet)`,
      ])
      const { size } = await stat(path)
      await work({ index: 0, path, rows: rows.length, bytes: size, sha256: '' })
    } finally {
      tables.close()
      await rm(path, { force: true })
    }
  }
}
