// Rights are seen before they are hit: a button that somebody may not press is there, disabled, and says why.
import { Button, type ButtonProps } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ComponentPropsWithoutRef, ReactNode } from 'react'
import { Tip } from './Tip'

type Props = ButtonProps &
  ComponentPropsWithoutRef<'button'> & {
    /** Null when allowed. */
    denial: string | null
  }

export function GuardedButton({ denial, ...button }: Props) {
  if (denial === null) return <Button {...button} />
  // Not `disabled`: that could be reached neither by the keyboard nor by whoever listens.
  return (
    <Tip label={denial}>
      <Button {...button} data-disabled aria-disabled="true" onClick={(event) => event.preventDefault()} />
    </Tip>
  )
}

/** The same for a button that is an address of its own. */
export function GuardedLink({
  denial,
  link,
  icon,
  children,
}: {
  denial: string | null
  link: LinkProps
  icon?: ReactNode
  children: ReactNode
}) {
  if (denial !== null)
    return (
      <GuardedButton denial={denial} leftSection={icon}>
        {children}
      </GuardedButton>
    )
  return (
    <Button leftSection={icon} renderRoot={(props) => <Link {...props} {...link} />}>
      {children}
    </Button>
  )
}
