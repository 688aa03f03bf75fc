// Formulas of trends: each makes one result of all series, for every period and value of the breakdown.
import { readFormula, type Formula } from './formula.ts'
import type { TrendsQuery } from './schema.ts'
import type { Line, Trends } from './trends-query.ts'

type Named = { formula: Formula; label: string }

export function readFormulas({ series, trendsFilter }: TrendsQuery): Named[] {
  const { formula, formulas, formulaNodes } = trendsFilter ?? {}
  const at = 'trendsFilter__'
  const given = [
    ...(formula ? [{ text: formula, name: null, attr: `${at}formula` }] : []),
    ...(formulas ?? []).map((text, place) => ({ text, name: null, attr: `${at}formulas__${place}` })),
    ...(formulaNodes ?? []).map((node, place) => ({
      text: node.formula,
      name: node.custom_name,
      attr: `${at}formulaNodes__${place}__formula`,
    })),
  ]
  return given.map(({ text, name, attr }) => ({
    formula: readFormula(text, series.length, attr),
    label: name || `Formula (${text})`,
  }))
}

export function applyFormulas(
  formulas: readonly Named[],
  lines: readonly Line[],
  { query, periods }: Trends,
): (Line & { label: string })[] {
  return formulas.flatMap(({ formula, label }) =>
    [...periods.keys()].flatMap((period) => {
      const own = lines.filter((line) => line.period === period)
      return [...new Set(own.map(({ breakdown }) => breakdown))].map((breakdown) => {
        const same = own.filter((line) => line.breakdown === breakdown)
        const bySeries = query.series.map((_, place) => same.find(({ series }) => series === place)?.values)
        const size = same[0]!.values.length
        const values = Array.from({ length: size }, (_, place) => {
          const value = formula(bySeries.map((each) => each?.[place] ?? 0))
          // JSON has no infinities.
          return Number.isFinite(value) ? value : 0
        })
        return { series: 0, period, breakdown, values, label }
      })
    }),
  )
}
