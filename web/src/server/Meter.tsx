import type { ReactNode } from 'react'
import classes from './Meter.module.css'

/** A part of a whole: what it is, how much, and a bar as long as its share. */
export function Meter({ label, value, share }: { label: string; value: ReactNode; share: number }) {
  return (
    <div className={classes.meter}>
      <span>{label}</span>
      <span className={classes.value}>{value}</span>
      <div className={classes.track}>
        <div
          className={classes.part}
          style={{ width: `${Math.min(100, Math.max(share > 0 ? 1 : 0, share * 100))}%` }}
        />
      </div>
    </div>
  )
}
