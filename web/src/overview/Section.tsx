import { Title } from '@mantine/core'
import { useId, type ReactNode } from 'react'
import classes from './Overview.module.css'

type Props = { title: string; beside?: ReactNode; children: ReactNode }

/** One of the rows. */
export function Section({ title, beside, children }: Props) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div className={classes.head}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {beside}
      </div>
      {children}
    </section>
  )
}
