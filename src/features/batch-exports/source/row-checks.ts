// What is asked about the rows of a run besides the rows themselves, so that its log can tell what was done to them.
import type { OutputColumn } from '../definition.ts'
import { tooLongSql, type Target } from './output.ts'
import type { RowCheck } from './select.ts'
import { rawColumn, type SourceRows } from './source-rows.ts'

/** One question for all columns: how many rows have texts that were cut, the first of them, and which columns. */
export function checkLengths(
  source: SourceRows,
  outputs: readonly OutputColumn[],
  target: Target,
): RowCheck[] {
  const limited = outputs.flatMap((column, index) => {
    const test = tooLongSql(rawColumn(index), source.columns[index]!, column, target)
    return test === null ? [] : [{ test, shown: `${column.name} ${column.type}` }]
  })
  if (limited.length === 0) return []
  const tests = limited.map(({ test }) => test)
  const which = tests.map((test) => `bool_or(${test})`).join(', ')
  return [
    {
      sql:
        `SELECT count(*), arg_min(CAST(r.c2 AS VARCHAR), r.c1), ${which}` +
        ` FROM (${source.sql}) AS r WHERE ${tests.join(' OR ')}`,
      parameters: source.parameters,
      warning([count, sample, ...were_cut]) {
        if (count === 0) return null
        const rows = count === 1 ? '1 row' : `${String(count)} rows`
        const names = limited.filter((_, index) => were_cut[index] === true).map(({ shown }) => shown)
        const first = `the first with the ${source.found_by} ${String(sample)}`
        return `Texts longer than their column were cut in ${rows} (${names.join(', ')}), ${first}.`
      },
    },
  ]
}
