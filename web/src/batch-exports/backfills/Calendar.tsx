// Days with what is exported of each. A click chooses a day, a second one a range; then a backfill can be asked for.
import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { countText } from '../../ui/format'
import { missingIn } from '../proof/balance'
import classes from './Calendar.module.css'
import { monthsBetween, stateOf, type Day, type DayState } from './days'

type Props = { days: ReadonlyMap<string, Day>; today: string; onChoose: (one: string, other: string) => void }
const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']
const NAMES: Record<DayState, string> = {
  none: 'nothing to export',
  whole: 'all exported',
  part: 'partly exported',
  missing: 'not exported',
}
const STATES = ['whole', 'part', 'missing', 'none'] as const
const LEAST_MONTHS = 2

export function Calendar({ days, today, onChoose }: Props) {
  const [first, setFirst] = useState<string | null>(null)
  const dates = [...days.keys()].sort()
  const months = monthsBetween([dates[0] ?? today, monthsBefore(today, LEAST_MONTHS - 1)].sort()[0]!, today)
  const choose = (date: string) => {
    if (first === null) return setFirst(date)
    setFirst(null)
    onChoose(first, date)
  }
  return (
    <div>
      <div className={classes.months}>
        {months.slice(-6).map(({ key, label, weeks }) => (
          <div key={key} role="group" aria-label={label}>
            <div className={classes.label}>{label}</div>
            <div className={classes.week} aria-hidden="true">
              {WEEKDAYS.map((weekday) => (
                <span key={weekday} className={classes.weekday}>
                  {weekday}
                </span>
              ))}
            </div>
            {weeks.map((week, index) => (
              <div key={index} className={classes.week}>
                {week.map((date, place) =>
                  date === null ? (
                    <span key={place} />
                  ) : (
                    <UnstyledButton
                      key={date}
                      className={classes.day}
                      data-state={stateOf(days.get(date))}
                      data-first={date === first || undefined}
                      disabled={date > today}
                      title={titleOf(date, days.get(date))}
                      aria-label={titleOf(date, days.get(date))}
                      onClick={() => choose(date)}
                    >
                      {Number(date.slice(8))}
                    </UnstyledButton>
                  ),
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className={classes.hint} role="status">
        {first === null
          ? 'Choose the first day of a backfill.'
          : `From ${first}: choose the last day, or the same day again.`}
      </p>
      <ul className={classes.legend}>
        {STATES.map((state) => (
          <li key={state}>
            <span className={classes.swatch} data-state={state} aria-hidden="true" /> {NAMES[state]}
          </li>
        ))}
      </ul>
    </div>
  )
}

function monthsBefore(date: string, months: number): string {
  const [year, month] = date.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10)
}

function titleOf(date: string, day: Day | undefined): string {
  if (!day) return `${date}: ${NAMES.none}`
  const missing = missingIn(day)
  return `${date}: ${NAMES[stateOf(day)]}, ${countText(day.exported)} rows${missing > 0 ? `, ${countText(missing)} missing` : ''}`
}
