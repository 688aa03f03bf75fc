// One subject of a page of settings: its name, what it is about, and what can be done.
import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './Section.module.css'

type Props = {
  title: string
  text?: ReactNode
  /** Tables take the whole width; forms do not. */
  isWide?: boolean
  children: ReactNode
}

export function Section({ title, text, isWide = false, children }: Props) {
  return (
    <section className={classes.section} data-wide={isWide || undefined}>
      <div className={classes.about}>
        <Title order={2}>{title}</Title>
        {text !== undefined && <p className={classes.text}>{text}</p>}
      </div>
      <div className={classes.content}>{children}</div>
    </section>
  )
}
