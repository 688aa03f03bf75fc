// Names and their values, one a line.
import { Fragment, type ReactNode } from 'react'
import classes from './Facts.module.css'

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt className={classes.name}>{name}</dt>
          <dd className={classes.value}>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
