import type { ReactNode } from 'react'
import classes from './Facts.module.css'

export type Fact = readonly [name: string, value: ReactNode]

/** Names and values in two columns; what is false is left out. */
export function Facts({ facts }: { facts: readonly (Fact | false)[] }) {
  return (
    <dl className={classes.facts}>
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
