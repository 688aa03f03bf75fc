// The look of every page before signing in: the mark, one title, one form.
import { Anchor, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import mark from '../ui/mark.svg'
import classes from './Card.module.css'

type Props = { title: string; text?: ReactNode; children?: ReactNode; links?: ReactNode }

export function Card({ title, text, children, links }: Props) {
  useDocumentTitle(`${title} · Longshore`)
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <p className={classes.brand}>
          <img src={mark} alt="" width="28" height="28" />
          Longshore
        </p>
        <Stack gap="lg">
          <Title order={1}>{title}</Title>
          {text !== undefined && <Text>{text}</Text>}
          {children}
          {links !== undefined && <nav className={classes.links}>{links}</nav>}
        </Stack>
      </div>
    </main>
  )
}

export function CardLink({ children, ...link }: LinkProps & { children: ReactNode; onClick?: () => void }) {
  return (
    <Anchor component={Link} size="sm" {...(link as object)}>
      {children}
    </Anchor>
  )
}

/** Beside such links: what changes the page without leaving it. */
export function CardButton({ children, onClick }: { children: ReactNode; onClick: () => void }) {
  return (
    <Anchor component="button" type="button" size="sm" onClick={onClick}>
      {children}
    </Anchor>
  )
}
