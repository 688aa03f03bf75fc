// The head of every page: where you are, what state it is in, what you can do, in that order; then its tabs.
import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link, type LinkProps } from '@tanstack/react-router'
import { Suspense, type ReactNode } from 'react'
import classes from './Page.module.css'
import { Loading } from './States'

type Props = {
  title: string
  /** The pages above this one. */
  crumbs?: readonly { label: string; link: LinkProps }[]
  state?: ReactNode
  /** One primary button at most. */
  actions?: ReactNode
  tabs?: ReactNode
  /** Pages that use the whole width and height, such as an editor. */
  isFull?: boolean
  children: ReactNode
}

export function Page({ title, crumbs = [], state, actions, tabs, isFull = false, children }: Props) {
  useDocumentTitle(`${title} · Longshore`)
  return (
    <div className={classes.page} data-full={isFull || undefined}>
      <header className={classes.head}>
        <Group justify="space-between" gap="md" wrap="wrap">
          <Group gap="md" wrap="wrap" className={classes.where}>
            <Title order={1} className={classes.title}>
              {crumbs.map(({ label, link }) => (
                <span key={label}>
                  <Link {...link} className={classes.crumb}>
                    {label}
                  </Link>
                  <span aria-hidden="true" className={classes.slash}>
                    /
                  </span>
                </span>
              ))}
              {title}
            </Title>
            {state}
          </Group>
          <Group gap="sm">{actions}</Group>
        </Group>
        {tabs}
      </header>
      <div className={classes.body}>
        <Suspense fallback={<Loading />}>{children}</Suspense>
      </div>
    </div>
  )
}

type TabLinksProps = {
  label: string
  /** `link` is the tab's own address. */
  tabs: readonly { value: string; label: string; link: LinkProps; mark?: ReactNode }[]
  value: string
}

/** Tabs that are addresses: each is a link, so that it can be opened beside, copied and gone back from. */
export function TabLinks({ label, tabs, value }: TabLinksProps) {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {tabs.map((tab) => (
        <Link
          key={tab.value}
          {...tab.link}
          className={classes.tab}
          activeOptions={{ exact: true }}
          aria-current={tab.value === value ? 'page' : undefined}
          ref={tab.value === value ? bringIntoView : undefined}
        >
          {tab.label}
          {tab.mark}
        </Link>
      ))}
    </nav>
  )
}

/**
 * On a phone the tabs are wider than the page, and the one that is open may lie beyond its edge. Not by `scrollIntoView`:
 * the Tab key would go on from there, past all that stands before.
 */
function bringIntoView(tab: HTMLElement | null): void {
  const bar = tab?.parentElement
  if (!tab || !bar) return
  const beyond = tab.getBoundingClientRect().right - bar.getBoundingClientRect().right
  if (beyond > 0) bar.scrollLeft += beyond
}
