// Names in SQL text: always quoted, so that they mean what they say whatever is in them.

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quotedList(names: readonly string[]): string {
  return names.map(quoted).join(', ')
}

export type TableName = { schema: string; table: string }

export function qualified({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`
}
