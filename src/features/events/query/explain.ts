// What `explain` in the answer tells: from where each property of events was read.
import type { CompiledQuery } from '../../../hogql/compile.ts'
import type { PropertySource } from '../../../platform/event-store/event-store.ts'

export function explainProperties(
  sources: readonly PropertySource[],
  { hot, in_json }: Pick<CompiledQuery, 'hot' | 'in_json'>,
): string[] {
  return [
    ...hot.map((property) => `properties.${property}: from a column that every project has.`),
    ...in_json.map((property) => `properties.${property}: from the JSON of every event that is read.`),
    ...sources.map((source) => `properties.${source.property}: ${placeOf(source)}`),
  ]
}

const NUMBER = new Intl.NumberFormat('en')

function placeOf({ from_column, from_json, json_bytes }: PropertySource): string {
  const events = (count: number) => `${NUMBER.format(count)} event${count === 1 ? '' : 's'}`
  if (from_json === 0) return 'from a column of its own.'
  const column = from_column === 0 ? '' : `from a column of its own for ${events(from_column)}, `
  return `${column}from the JSON of ${events(from_json)}. A column would save reading ${bytesText(json_bytes)} of JSON.`
}

function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
