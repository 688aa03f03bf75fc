import { Anchor } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** A link within the console, in running text. */
export function TextLink({
  children,
  className,
  ...link
}: LinkProps & { children: ReactNode; className?: string }) {
  return (
    <Anchor inherit component={Link} className={className} {...(link as object)}>
      {children}
    </Anchor>
  )
}
