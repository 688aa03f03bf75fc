// Above a list: what narrows it down at the left, what adds to it at the right.
import type { ReactNode } from 'react'
import classes from './Toolbar.module.css'

export function Toolbar({ children, actions }: { children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className={classes.toolbar}>
      <div className={classes.filters}>{children}</div>
      {actions}
    </div>
  )
}
