// Charts of every page: lines, bars and stacked bars over time or numbers, and bars beside names. Each is a figure with a
// table behind it for those who listen. What draws on canvas is heavy, so it comes when the first one is shown.
import { Skeleton } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { countText } from '../format'
import type { COLORS } from '../theme'
import { useZone } from '../Values'
import { pointText } from './axis'
import classes from './Chart.module.css'
import { NameBars } from './NameBars'
import { colorOf, dashOf, shownValue } from './series'

export type ChartSeries = {
  label: string
  /** One for each point of `x`. */
  values: readonly (number | null)[]
  /** A token of theme.ts, such as `failed`; by default the next of the series' own. */
  color?: keyof (typeof COLORS)['light']
}

export type ChartX =
  /** Milliseconds since 1970, ascending. */
  | { kind: 'time'; values: readonly number[] }
  /** Midnight UTC of days, which are days in whatever zone. */
  | { kind: 'day'; values: readonly number[] }
  | { kind: 'number'; values: readonly number[] }
  | { kind: 'name'; values: readonly string[] }

export type ChartKind = 'line' | 'bar' | 'stacked'

export type ChartProps = {
  /** What the chart shows, for those who listen. */
  label: string
  kind: ChartKind
  x: ChartX
  series: readonly ChartSeries[]
  /** In pixels, or `100%` of what it stands in. */
  height?: number | '100%'
  valueText?: (value: number) => string
  /** Names of the series above the chart; left out for one of them alone. */
  hasLegend?: boolean
}

const Plot = lazy(() => import('./Plot'))
const DEFAULT_HEIGHT = 240
/** Who listens to more points than these wants the numbers themselves. */
const MOST_HEARD = 200

export function Chart(props: ChartProps) {
  const { label, x, series, height = DEFAULT_HEIGHT, valueText = countText } = props
  if (x.kind === 'name')
    return <NameBars label={label} names={x.values} series={series} valueText={valueText} />
  return <PlotFigure {...props} x={x} height={height} valueText={valueText} />
}

type FigureProps = ChartProps & {
  x: Exclude<ChartX, { kind: 'name' }>
  height: number | '100%'
  valueText: (value: number) => string
}

function PlotFigure({
  label,
  kind,
  x,
  series,
  height,
  valueText,
  hasLegend = series.length > 1,
}: FigureProps) {
  const [index, setIndex] = useState<number | null>(null)
  const ownZone = useZone()
  const zone = x.kind === 'day' ? 'UTC' : ownZone
  const point = index === null ? undefined : x.values[index]
  return (
    <figure className={classes.figure} aria-label={label} style={{ height }}>
      <div className={classes.legend} aria-hidden="true">
        {(hasLegend || point !== undefined) &&
          series.map((one, at) => (
            <span key={at} className={classes.item}>
              <Swatch kind={kind} color={colorOf(one, at)} dash={dashOf(at)} />
              <span className="cut">{one.label}</span>
              {index !== null && <b className={classes.value}>{shownValue(one.values[index], valueText)}</b>}
            </span>
          ))}
        {point !== undefined && <span className={classes.when}>{pointText(point, x.kind, zone)}</span>}
      </div>
      <div className={classes.plot}>
        <Suspense fallback={<Skeleton height="100%" />}>
          <Plot kind={kind} x={x} series={series} zone={zone} onPoint={setIndex} />
        </Suspense>
      </div>
      <HeardTable label={label} x={x} series={series} zone={zone} valueText={valueText} />
    </figure>
  )
}

function Swatch({ kind, color, dash }: { kind: ChartKind; color: string; dash: readonly number[] }) {
  return (
    <svg
      width="14"
      height="10"
      viewBox="0 0 14 10"
      className={classes.swatch}
      style={{ color: `var(--ls-${color})` }}
    >
      {kind === 'line' ? (
        <path d="M0 5h14" stroke="currentColor" strokeWidth="2" strokeDasharray={dash.join(' ')} />
      ) : (
        <rect x="2" width="10" height="10" rx="2" fill="currentColor" />
      )}
    </svg>
  )
}

type HeardProps = Pick<FigureProps, 'label' | 'x' | 'series' | 'valueText'> & { zone: string | undefined }

function HeardTable({ label, x, series, zone, valueText }: HeardProps) {
  const left = x.values.length - MOST_HEARD
  return (
    <div className="aloud">
      <table>
        <caption>
          {left > 0 ? `${label}, the first ${MOST_HEARD} of ${x.values.length} points` : label}
        </caption>
        <thead>
          <tr>
            <th scope="col">{{ time: 'Time', day: 'Day', number: 'Value' }[x.kind]}</th>
            {series.map((one, at) => (
              <th key={at} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {x.values.slice(0, MOST_HEARD).map((value, row) => (
            <tr key={row}>
              <th scope="row">{pointText(value, x.kind, zone)}</th>
              {series.map((one, at) => (
                <td key={at}>{shownValue(one.values[row], valueText)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
