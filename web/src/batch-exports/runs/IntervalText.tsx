import { timeText, timeTitle } from '../../ui/format'
import { useZone } from '../../ui/Values'

type Interval = { data_interval_start: string | null; data_interval_end: string }
const DAY_MS = 86_400_000

/** `17 Nov, 13:00 – 14:00`; both days where they differ. */
export function IntervalText({ data_interval_start: start, data_interval_end: end }: Interval) {
  const zone = useZone()
  const from = start === null ? 'the beginning' : timeText(start, zone, 'minute')
  const to = timeText(end, zone, 'minute')
  const isShort = start !== null && Date.parse(end) - Date.parse(start) < DAY_MS
  return (
    <span title={`until ${timeTitle(end)}`}>
      {from} – {isShort ? to.split(', ').at(-1) : to}
    </span>
  )
}
