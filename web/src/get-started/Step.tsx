import { Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../ui/Icon'
import classes from './GetStartedPage.module.css'

type Props = { number: number; title: string; isDone: boolean; children: ReactNode }

/** Its number becomes a tick when it is done. */
export function Step({ number, title, isDone, children }: Props) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden="true">
        {isDone ? <Icon name="check" size={14} /> : number}
      </span>
      <Stack gap="md" className={classes.content}>
        <Title order={2} className={classes.title}>
          {title}
          {isDone && <span className="aloud">: done</span>}
        </Title>
        {children}
      </Stack>
    </li>
  )
}
