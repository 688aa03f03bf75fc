import { useEffect, useRef } from 'react'
import { Time } from '../../ui/Values'
import type { LogEntry } from '../queries'
import classes from './LogLines.module.css'

type Props = { lines: readonly LogEntry[]; empty: string; isFollowed?: boolean }

/** Lines of a log, oldest first; while they come in, the last stays in sight. */
export function LogLines({ lines, empty, isFollowed = false }: Props) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isFollowed && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [isFollowed, lines.length])
  if (lines.length === 0) return <p className="quiet">{empty}</p>
  return (
    <div ref={box} className={classes.log} tabIndex={0} role="log" aria-label="Log lines">
      {lines.map((line, index) => (
        <div key={`${line.timestamp} ${index}`} className={classes.line}>
          <span className={classes.time}>
            <Time value={line.timestamp} style="second" />
          </span>
          <Level level={line.level} />
          <span className={classes.message}>{line.message}</span>
        </div>
      ))}
    </div>
  )
}

export function Level({ level }: { level: LogEntry['level'] }) {
  return (
    <span className={classes.level} data-level={level}>
      {level}
    </span>
  )
}
