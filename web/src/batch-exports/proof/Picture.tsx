// The intervals as lines of columns. A click opens a run, and dragging by mouse chooses a range. Keyboards and fingers have
// the same elsewhere: runs open from the table below, and ranges are chosen by the picker beside it.
import { useState } from 'react'
import { countText, timeText } from '../../ui/format'
import { useZone } from '../../ui/Values'
import type { IntervalAccount } from '../queries'
import { runState } from '../states'
import { missingIn } from './balance'
import { GAP, rangeBetween, type Cell, type Line, type Range } from './lines'
import classes from './Picture.module.css'

type Props = {
  lines: readonly Line[]
  chosen: Range | null
  onChoose: (range: Range | null) => void
  onOpen: (run: string) => void
}

export function Picture({ lines, chosen, onChoose, onOpen }: Props) {
  const zone = useZone()
  const [first, setFirst] = useState<IntervalAccount | null>(null)
  const [last, setLast] = useState<IntervalAccount | null>(null)
  const most = Math.max(
    1,
    ...lines.flatMap(({ cells }) => cells.map((cell) => (cell === null || cell === GAP ? 0 : cell.rows))),
  )
  const drawn = first !== null && last !== null && first !== last ? rangeBetween(first, last) : chosen

  const end = (account: IntervalAccount | null) => {
    const isClick = first !== null && account === first
    if (isClick) onOpen(first.run)
    else if (first !== null && last !== null) onChoose(rangeBetween(first, last))
    setFirst(null)
    setLast(null)
  }
  const place = (cell: Cell) => ({
    onPointerDown: (event: { button: number; pointerType: string; preventDefault(): void }) => {
      if (event.button !== 0) return
      // Fingers scroll: here they only open runs.
      if (event.pointerType === 'mouse') event.preventDefault()
      setFirst(cell.account)
      setLast(cell.account)
    },
    onPointerEnter: () => first !== null && setLast(cell.account),
    onPointerUp: () => end(cell.account),
  })

  return (
    <div
      className={classes.picture}
      aria-hidden="true"
      onPointerLeave={() => end(null)}
      onPointerCancel={() => setFirst(null)}
    >
      {lines.map(({ key, label, cells }) => (
        <div key={key} className={classes.line}>
          <span className={classes.label}>{label}</span>
          <div className={classes.cells}>
            {cells.map((cell, index) =>
              cell === null || cell === GAP ? (
                <span
                  key={index}
                  className={classes.place}
                  data-gap={cell === GAP || undefined}
                  title={cell === GAP ? 'No run: the export was paused' : undefined}
                />
              ) : (
                <span
                  key={cell.account.run}
                  className={classes.place}
                  data-chosen={isWithin(cell.account, drawn) || undefined}
                  title={titleOf(cell, zone)}
                  {...place(cell)}
                >
                  <span
                    className={classes.column}
                    data-kind={cell.kind}
                    style={{ '--share': cell.rows / most } as object}
                  />
                </span>
              ),
            )}
          </div>
        </div>
      ))}
    </div>
  )
}

function isWithin(
  { data_interval_start: start, data_interval_end: end }: IntervalAccount,
  range: Range | null,
): boolean {
  if (range === null) return false
  return Date.parse(start ?? end) >= Date.parse(range.from) && Date.parse(end) <= Date.parse(range.to)
}

function titleOf({ account, rows }: Cell, zone: string | undefined): string {
  const missing = missingIn(account)
  const at = timeText(account.data_interval_start ?? account.data_interval_end, zone, 'minute')
  return `${at}: ${runState(account.status).text}, ${countText(rows)} events, ${countText(account.exported)} exported${missing > 0 ? `, ${countText(missing)} missing` : ''}`
}
