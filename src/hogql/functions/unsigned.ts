// ClickHouse: what counts gives a UInt64 there, and no type has room for both that and an Int64. Where the two meet, in a UNION, a
// join or an `if`, it refuses or makes a Variant. Numbers of HogQL are Int64: so are bound constants, and so is what is counted.
/** By the names of the catalogue. Those that convert to UInt64 are not among them: they are asked for larger numbers. */
const COUNTING: ReadonlySet<string> = new Set([
  'count',
  'uniq',
  'uniqExact',
  'row_number',
  'rank',
  'dense_rank',
  'ntile',
  'length',
  'lengthUTF8',
  'position',
  'positionCaseInsensitive',
  'locate',
  'indexOf',
  'countEqual',
  'countMatches',
  'countMatchesCaseInsensitive',
  'countSubstrings',
  'countSubstringsCaseInsensitive',
  'multiSearchFirstIndex',
  'multiSearchFirstIndexCaseInsensitive',
  'levenshteinDistance',
  'damerauLevenshteinDistance',
  'JSONLength',
])

export const signed = ({ name }: { name: string }, sql: string, engine: 'duckdb' | 'clickhouse'): string =>
  engine === 'clickhouse' && COUNTING.has(name) ? `toInt64(${sql})` : sql
