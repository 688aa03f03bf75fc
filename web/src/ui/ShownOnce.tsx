// A secret as it is given: once. Copied from here, or lost.
import { Button, CopyButton, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './ShownOnce.module.css'

type Props = {
  /** What it is, and that it is shown once. */
  children: ReactNode
  value: string
  /** "Copy key" */
  copy: string
  /** Beside the button that copies. */
  actions?: ReactNode
}

export function ShownOnce({ children, value, copy, actions }: Props) {
  return (
    <Stack gap="sm" className={classes.once}>
      <Text size="sm">{children}</Text>
      <pre className={`mono ${classes.value}`} tabIndex={0} aria-label="Shown once">
        {value}
      </pre>
      <Group gap="sm">
        <CopyButton value={value}>
          {({ copied, copy: act }) => <Button onClick={act}>{copied ? 'Copied' : copy}</Button>}
        </CopyButton>
        {actions}
      </Group>
    </Stack>
  )
}
