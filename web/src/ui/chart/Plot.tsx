// uPlot as a React component. It is made anew when the shape of the chart changes, and fed when only its values do.
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { COLORS, theme } from '../theme'
import { numberTick, tickTexts } from './axis'
import type { ChartKind, ChartSeries, ChartX } from './Chart'
import classes from './Chart.module.css'
import { colorOf, dashOf, stacked, stepOf, valueRange } from './series'

type Props = {
  kind: ChartKind
  x: Exclude<ChartX, { kind: 'name' }>
  series: readonly ChartSeries[]
  zone: string | undefined
  /** The point under the pointer. */
  onPoint: (index: number | null) => void
}

type Colors = (typeof COLORS)['light' | 'dark']

const BAR_SHARE = 0.82
const WIDEST_BAR_PX = 56
const FEW_POINTS = 60
/** Half of the widest text below: it stands in the middle under its point, and the last one may be at the very end. */
const RIGHT_PX = 32

export default function Plot({ kind, x, series, zone, onPoint }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const colors = COLORS[useComputedColorScheme('light')]
  const point = useEffectEvent(onPoint)
  const dataNow = useEffectEvent(() => dataOf(kind, x, series))
  const optionsNow = useEffectEvent(() => optionsOf(kind, x, series, zone, colors))
  const shape = JSON.stringify([
    kind,
    x.kind,
    zone,
    colors.page,
    series.map((one, at) => [one.label, colorOf(one, at)]),
  ])

  useEffect(() => {
    const element = host.current!
    const { clientWidth: width, clientHeight: height } = element
    const hooks = { setCursor: [(self: uPlot) => point(self.cursor.idx ?? null)] }
    const made = new uPlot({ ...optionsNow(), width, height, hooks }, dataNow(), element)
    plot.current = made
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element
      if (clientWidth > 0 && clientHeight > 0) made.setSize({ width: clientWidth, height: clientHeight })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
      point(null)
    }
  }, [shape])

  useEffect(() => plot.current?.setData(dataNow()), [x, series])

  return <div ref={host} className={classes.canvas} aria-hidden="true" data-chart={kind} />
}

/** Bars of a stack are told by where they end; where they begin is looked up when they are drawn. */
function dataOf(kind: ChartKind, x: Props['x'], series: readonly ChartSeries[]): uPlot.AlignedData {
  const points = x.kind !== 'number' ? x.values.map((value) => value / 1000) : [...x.values]
  const ends =
    kind === 'stacked'
      ? stacked(series).map((bars) => bars.map(([, to]) => to))
      : series.map(({ values }) => [...values])
  return [points, ...ends]
}

function optionsOf(
  kind: ChartKind,
  x: Props['x'],
  series: readonly ChartSeries[],
  zone: string | undefined,
  colors: Colors,
) {
  const isTime = x.kind !== 'number'
  const font = `12px ${theme.fontFamily}`
  const grid = { stroke: colors.hairline, width: 1 }
  const axis = { stroke: colors.quiet, font, ticks: { show: false } }
  return {
    legend: { show: false },
    padding: [8, RIGHT_PX, 0, 0] as uPlot.Padding,
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'line', size: 7 } },
    ...(zone === undefined
      ? {}
      : { tzDate: (second: number) => uPlot.tzDate(new Date(second * 1000), zone) }),
    scales: {
      x: {
        time: isTime,
        range: (self: uPlot, min: number, max: number) => pointRange(kind, self.data[0], min, max),
      },
      y: { range: (_self: uPlot, min: number, max: number) => valueRange(kind, min, max) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 72,
        size: 28,
        values: (_self: uPlot, ticks: number[], _axis: number, _space: number, step: number) =>
          isTime ? tickTexts(ticks, step, zone) : ticks.map(numberTick),
      },
      { ...axis, grid, size: widthOfTicks, values: (_self: uPlot, ticks: number[]) => ticks.map(numberTick) },
    ] as uPlot.Axis[],
    series: [{}, ...series.map((one, at) => seriesOf(kind, one, at, series.length, colors))],
  }
}

/** Bars need half of their width beyond the first and the last point. */
function pointRange(kind: ChartKind, points: ArrayLike<number>, min: number, max: number): [number, number] {
  const step = stepOf(Array.from(points))
  if (kind !== 'line') return [min - step / 2, max + step / 2]
  return min === max ? [min - step / 2, max + step / 2] : [min, max]
}

function widthOfTicks(_self: uPlot, texts: string[] | null): number {
  return Math.max(32, 14 + 7 * Math.max(0, ...(texts ?? []).map(({ length }) => length)))
}

function seriesOf(
  kind: ChartKind,
  one: ChartSeries,
  at: number,
  count: number,
  colors: Colors,
): uPlot.Series {
  const color = colors[colorOf(one, at)]
  if (kind === 'line')
    return {
      stroke: color,
      width: 1.75,
      dash: [...dashOf(at)],
      // A line of few points shows them: between them nothing was measured.
      points: { show: (self) => self.data[0].length <= FEW_POINTS, size: 5, fill: color, stroke: color },
      ...(count === 1 ? { fill: `${color}1f` } : {}),
    }
  return {
    fill: color,
    width: 0,
    points: { show: false },
    paths: bars(kind === 'stacked' ? [0, 1] : [at, count], kind === 'stacked'),
  }
}

/** One series' bars: upon those before it, or beside them at its place among so many. */
function bars([place, places]: readonly [number, number], isStacked: boolean): uPlot.Series.PathBuilder {
  return (self, seriesIndex, first, last) => {
    const fill = new Path2D()
    const points = self.data[0]
    const ends = self.data[seriesIndex]!
    const starts = isStacked && seriesIndex > 1 ? self.data[seriesIndex - 1]! : null
    const step = stepOf(Array.from(points))
    const room = Math.abs(self.valToPos(points[0]! + step, 'x', true) - self.valToPos(points[0]!, 'x', true))
    const group = Math.max(1, Math.min(room * BAR_SHARE, WIDEST_BAR_PX * places * devicePixelRatio))
    const width = group / places
    for (let index = first; index <= last; index++) {
      const end = ends[index]
      if (end === null || end === undefined) continue
      const top = self.valToPos(end, 'y', true)
      const bottom = self.valToPos(starts?.[index] ?? 0, 'y', true)
      if (top === bottom) continue
      const left = self.valToPos(points[index]!, 'x', true) - group / 2 + place * width
      // A hair between two bars, so that they can be told apart without colours.
      const gap = width > 4 ? 1 : 0
      fill.rect(
        left,
        Math.min(top, bottom),
        width - gap,
        Math.max(1, Math.abs(bottom - top) - (starts ? gap : 0)),
      )
    }
    return { fill, stroke: null, clip: null, band: null, flags: 0 }
  }
}
