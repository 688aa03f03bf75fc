// How warehouses print JSON that they keep in a form of their own: no blanks, keys in order. A function of their tables.
import { parseExactly, stringifyExactly } from '../../../src/lib/exact-json.ts'
import { DuckDBScalarFunction, VARCHAR, type DuckDBConnection } from '@duckdb/node-api'

export function addPrintedJson(connection: DuckDBConnection): void {
  connection.registerScalarFunction(
    DuckDBScalarFunction.create({
      name: 'printed_json',
      parameterTypes: [VARCHAR],
      returnType: VARCHAR,
      mainFunction(_info, input, output) {
        const texts = input.getColumnVector(0)
        for (let row = 0; row < input.rowCount; row += 1) {
          const text = texts.getItem(row)
          output.setItem(row, typeof text === 'string' ? printed(parseExactly(text)) : null)
        }
        output.flush()
      },
    }),
  )
}

function printed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printed).join(',')}]`
  if (typeof value !== 'object' || value === null) return stringifyExactly(value)
  const object = value as Record<string, unknown>
  const bytes = (key: string) => Buffer.from(key).toString('latin1')
  const keys = Object.keys(object).toSorted((a, b) => (bytes(a) < bytes(b) ? -1 : 1))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${printed(object[key])}`).join(',')}}`
}
