// PostgreSQL's COPY text, read back: fields between tabs, `\N` for null, and a backslash before what would end a field.

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

export function fieldsOf(line: string): (string | null)[] {
  return line.split('\t').map((field) => (field === '\\N' ? null : unescaped(field)))
}

export function lineOf(fields: readonly (string | null)[]): string {
  return fields.map((field) => (field === null ? '\\N' : escaped(field))).join('\t')
}

function unescaped(field: string): string {
  if (!field.includes('\\')) return field
  return field.replaceAll(/\\(.)/gs, (_whole, mark: string) => ESCAPES[mark] ?? mark)
}

function escaped(value: string): string {
  return value.replaceAll(/[\\\n\r\t]/g, (mark) => MARKS[mark]!)
}

const MARKS: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
