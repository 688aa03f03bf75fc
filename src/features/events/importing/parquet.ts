// Parquet: the columns we know, and no others.
import { invalidPayload } from '../capture/refusal.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import {
  openParquetRows,
  type ParquetRows,
  type ParquetValue,
} from '../../../platform/event-store/duckdb/parquet-rows.ts'
import { COLUMNS } from './columns.ts'
import { MAX_ROW_BYTES } from './lines.ts'
import type { Row, Source } from './rows.ts'

export async function openParquet(path: string): Promise<Source> {
  const file = await openParquetRows(path, COLUMNS)
  if (!file.names.includes('event')) throw new Error(`${path} has no column named event`)
  const read = { rows: 0 }
  return {
    rows: readRows(file, read),
    share: () => (file.total === 0 ? 1 : read.rows / file.total),
  }
}

async function* readRows({ names, chunks }: ParquetRows, read: { rows: number }): AsyncGenerator<Row[]> {
  for await (const chunk of chunks) {
    const first = read.rows + 1
    read.rows += chunk.length
    yield chunk.map((values, index) => rowOf(first + index, names, values))
  }
}

function rowOf(line: number, names: readonly string[], values: readonly ParquetValue[]): Row {
  const bytes = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
  const fields = (): JsonObject => {
    const present = names.map((name, index) => [name, values[index]] as const)
    return Object.fromEntries(present.filter(([, value]) => value !== null))
  }
  return {
    line,
    bytes,
    text: () => JSON.stringify(fields(), (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    read() {
      if (bytes > MAX_ROW_BYTES) throw invalidPayload(`the row is larger than 1 MB (${bytes} bytes)`)
      if (values.some((value) => typeof value === 'string' && value.includes('\0')))
        throw invalidPayload('the row holds NUL characters')
      return fields()
    },
  }
}
