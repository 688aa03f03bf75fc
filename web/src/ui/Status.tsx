// A state has a colour and a shape, so that it can be told without colours.
import type { ReactNode } from 'react'
import classes from './Status.module.css'

export type StatusKind = 'delivered' | 'running' | 'waiting' | 'held' | 'failed' | 'skipped'

type Props = {
  kind: StatusKind
  /** What it says in words; without it the shape is read aloud by its kind. */
  children?: ReactNode
  /** 0 to 1, for what runs. */
  progress?: number
}

const RADIUS = 5.2
const AROUND = 2 * Math.PI * RADIUS

export function Status({ kind, children, progress = 0.3 }: Props) {
  return (
    <span className={classes.status} data-kind={kind}>
      <svg
        width="14"
        height="14"
        viewBox="0 0 14 14"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        aria-hidden="true"
      >
        <Shape kind={kind} progress={progress} />
      </svg>
      {children === undefined ? <span className="aloud">{kind}</span> : <span>{children}</span>}
    </span>
  )
}

function Shape({ kind, progress }: { kind: StatusKind; progress: number }) {
  const ring = { cx: 7, cy: 7, r: RADIUS }
  switch (kind) {
    case 'delivered':
      return (
        <>
          <circle {...ring} fill="currentColor" />
          <path
            d="m4.6 7.2 1.7 1.6 3.1-3.3"
            className={classes.tick}
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </>
      )
    case 'running':
      return (
        <>
          <circle {...ring} opacity="0.3" />
          <circle
            {...ring}
            strokeDasharray={`${Math.min(1, progress) * AROUND} ${AROUND}`}
            transform="rotate(-90 7 7)"
          />
        </>
      )
    case 'waiting':
      return <circle {...ring} />
    case 'held':
      return <path d="M4.6 2.5v9M9.4 2.5v9" strokeWidth="2.6" />
    case 'failed':
      return <path d="M7 1.2 12.8 7 7 12.8 1.2 7Z" fill="currentColor" strokeLinejoin="round" />
    case 'skipped':
      return <circle {...ring} strokeDasharray="2.2 2.4" />
  }
}
