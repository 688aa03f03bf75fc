// One question for all columns of an export: which rows have texts that are longer than their column takes.
import type { CutTexts } from '../../event-store.ts'
import type { ExportRows } from '../../export-rows.ts'
import type { Statement } from '../client.ts'
import { tooLongSql } from './form-sql.ts'
import { rawRows } from './rows-sql.ts'

type CutQuestion = Statement & { read(answer: readonly unknown[]): CutTexts }

/** Null when no text can be too long. */
export function askForCutTexts(rows: ExportRows): CutQuestion | null {
  const limited = rows.columns.flatMap(({ name, value }) => {
    const test = value === 'position' || value.form === null ? null : tooLongSql(`r.${value.of}`, value.form)
    return test === null ? [] : [{ name, test }]
  })
  if (limited.length === 0) return null
  const { sql, parameters, position, id } = rawRows(rows)
  const tests = limited.map(({ test }) => test)
  const which = tests.map((test) => `countIf(${test})`).join(', ')
  return {
    sql:
      `SELECT count(), argMin(toString(r.${id}), r.${position}), ${which}` +
      ` FROM (${sql}) AS r WHERE ${tests.join(' OR ')}`,
    parameters,
    read: ([count, first, ...cut]) => ({
      rows: Number(count),
      first: Number(count) === 0 ? null : String(first),
      columns: limited.filter((_, index) => Number(cut[index]) > 0).map(({ name }) => name),
    }),
  }
}
