// Rights are seen before they are hit: a button that somebody may not press is there, disabled, and says why.
import { Button, Tooltip, type ButtonProps } from '@mantine/core'
import type { ComponentPropsWithoutRef } from 'react'

type Props = ButtonProps &
  ComponentPropsWithoutRef<'button'> & {
    /** Null when allowed. */
    denial: string | null
  }

export function GuardedButton({ denial, ...button }: Props) {
  if (denial === null) return <Button {...button} />
  // Not `disabled`: that could be reached neither by the keyboard nor by whoever listens.
  return (
    <Tooltip label={denial}>
      <Button {...button} data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}
