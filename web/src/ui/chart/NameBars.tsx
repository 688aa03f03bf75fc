// Bars beside names: a table, so it needs no picture to be understood, and long names have room.
import type { CSSProperties } from 'react'
import type { ChartSeries } from './Chart'
import classes from './Chart.module.css'
import { colorOf, shownValue } from './series'

type Props = {
  label: string
  names: readonly string[]
  series: readonly ChartSeries[]
  valueText: (value: number) => string
}

const MOST = 100

export function NameBars({ label, names, series, valueText }: Props) {
  const largest = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => Math.abs(value ?? 0))))
  const shareOf = (value: number | null | undefined) => (largest === 0 ? 0 : Math.abs(value ?? 0) / largest)
  const isSeveral = series.length > 1
  return (
    <figure className={classes.figure} aria-label={label}>
      <table className={`${classes.names} ${isSeveral ? classes.several : ''}`}>
        <thead className={isSeveral ? undefined : 'aloud'}>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">{series.map((one) => one.label).join(', ')}</th>
          </tr>
        </thead>
        <tbody>
          {names.slice(0, MOST).map((name, row) => (
            <tr key={row}>
              <th scope="row" className="cut" title={name}>
                {name}
              </th>
              <td>
                {series.map((one, at) => (
                  <div key={at} className={classes.track}>
                    <span
                      className={classes.bar}
                      aria-hidden="true"
                      style={
                        {
                          '--share': shareOf(one.values[row]),
                          '--color': `var(--ls-${colorOf(one, at)})`,
                        } as CSSProperties
                      }
                    />
                    <span title={isSeveral ? one.label : undefined}>
                      {shownValue(one.values[row], valueText)}
                    </span>
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {names.length > MOST && <p className={classes.more}>{names.length - MOST} more are in the table.</p>}
    </figure>
  )
}
