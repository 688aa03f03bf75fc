// Runs as columns: height by rows, state by colour and shape. One line for each export in the list, many on the proof.
import { Link, type LinkProps } from '@tanstack/react-router'
import type { StatusKind } from '../ui/Status'
import classes from './RunBars.module.css'

export type Bar = {
  key: string
  kind: StatusKind
  rows: number
  /** What hovering says. */
  title: string
  link: LinkProps
}

type Props = {
  bars: readonly Bar[]
  most: number
  summary: string
  /** Beside other things: on a phone the last half alone. */
  isShort?: boolean
}

/**
 * `summary` is what is read aloud in place of the columns. They are left out of the keyboard's way: the same runs are rows
 * of a table that it reaches.
 */
export function RunBars({ bars, most, summary, isShort = false }: Props) {
  return (
    <div className={classes.strip}>
      <span className="aloud">{summary}</span>
      <div className={classes.bars} data-short={isShort || undefined} aria-hidden="true">
        {bars.map((bar) => (
          <Link
            key={bar.key}
            {...bar.link}
            title={bar.title}
            tabIndex={-1}
            preload={false}
            className={classes.bar}
            onClick={(event) => event.stopPropagation()}
          >
            <Column kind={bar.kind} share={shareOf(bar.rows, most)} />
          </Link>
        ))}
      </div>
    </div>
  )
}

/** From 0 to 1, of the highest column. */
const shareOf = (rows: number, most: number): number => (most === 0 ? 0 : rows / most)

function Column({ kind, share }: { kind: StatusKind; share: number }) {
  return <span className={classes.column} data-kind={kind} style={{ '--share': share } as object} />
}
