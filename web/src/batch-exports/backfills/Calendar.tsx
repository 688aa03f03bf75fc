// Days with what is exported of each. A click chooses a day, a second one a range; then a backfill can be asked for.
import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { countText } from '../../ui/format'
import { missingIn } from '../proof/balance'
import classes from './Calendar.module.css'
import { monthsBetween, stateOf, type Day, type DayState } from './days'

type Props = {
  /** Oldest first; the last is today. */
  days: readonly Day[]
  onChoose: (one: Day, other: Day) => void
}
const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']
const NAMES: Record<DayState, string> = {
  none: 'nothing to export',
  whole: 'all exported',
  part: 'partly exported',
  missing: 'not exported',
}
const STATES = ['whole', 'part', 'missing', 'none'] as const

export function Calendar({ days: all, onChoose }: Props) {
  const [first, setFirst] = useState<Day | null>(null)
  const days = new Map(all.map((day) => [day.date, day]))
  const months = monthsBetween(all[0]!.date, all.at(-1)!.date)
  const choose = (date: string) => {
    const day = days.get(date)!
    if (first === null) return setFirst(day)
    setFirst(null)
    onChoose(first, day)
  }
  return (
    <div>
      <div className={classes.months}>
        {months.map(({ key, label, weeks }) => (
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
                      data-first={date === first?.date || undefined}
                      disabled={!days.has(date)}
                      title={titleOf(date, days.get(date))}
                      aria-label={`${Number(date.slice(8))} ${label}, ${titleOf(date, days.get(date))}`}
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
          : `From ${first.date}: choose the last day, or the same day again.`}
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

function titleOf(date: string, day: Day | undefined): string {
  if (!day) return `${date}: ${NAMES.none}`
  const missing = missingIn(day)
  return `${date}: ${NAMES[stateOf(day)]}, ${countText(day.exported)} rows${missing > 0 ? `, ${countText(missing)} missing` : ''}`
}
