// How series are told apart: by colour, and by dashes for those who see no colours.
import type { ChartSeries } from './Chart'

const COLORS_COUNT = 8
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3]]

export type SeriesColor = NonNullable<ChartSeries['color']>

export const colorOf = ({ color }: Pick<ChartSeries, 'color'>, index: number): SeriesColor =>
  color ?? (`series-${(index % COLORS_COUNT) + 1}` as SeriesColor)

export const dashOf = (index: number): readonly number[] => DASHES[index % DASHES.length]!

export const shownValue = (value: number | null | undefined, text: (value: number) => string): string =>
  value === null || value === undefined ? '–' : text(value)

/** Where each bar of a stack begins and ends: `[from, to]` for each series and point. A gap is nothing on the stack. */
export function stacked(series: readonly Pick<ChartSeries, 'values'>[]): [from: number, to: number][][] {
  const heights: number[] = []
  return series.map(({ values }) =>
    values.map((value, point) => {
      const from = heights[point] ?? 0
      const to = from + (value ?? 0)
      heights[point] = to
      return [from, to]
    }),
  )
}

/** The least distance of two points, which is what a bar may take. */
export function stepOf(x: readonly number[]): number {
  let step = Infinity
  for (let index = 1; index < x.length; index++) {
    const distance = x[index]! - x[index - 1]!
    if (distance > 0 && distance < step) step = distance
  }
  return step === Infinity ? 1 : step
}

/** Bars stand on zero; lines too, unless all of it happens far above. */
export function valueRange(kind: 'line' | 'bar' | 'stacked', min: number, max: number): [number, number] {
  if (!Number.isFinite(min) || !Number.isFinite(max)) return [0, 1]
  const isFarFromZero = kind === 'line' && (min > max / 2 || max < min / 2)
  const [from, to] = isFarFromZero ? [min, max] : [Math.min(0, min), Math.max(0, max)]
  if (from === 0 && to === 0) return [0, 1]
  const room = (to - from || Math.abs(to)) * 0.06
  return [from === 0 ? 0 : from - room, to === 0 ? 0 : to + room]
}
