// The rail: which organization and project, the pages of the project, and what is beside projects.
import { ActionIcon, Group, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { projectQuery, useMe } from '../api/me'
import { signOut } from '../api/sign-out'
import { Icon } from '../ui/Icon'
import { Tip } from '../ui/Tip'
import { otherPlaces, projectPlaces, type Place } from './places'
import classes from './Rail.module.css'
import { Switchers } from './Switchers'

const ExportsCount = lazy(() =>
  import('./ExportsCount').then(
    ({ ExportsCount }) => ({ default: ExportsCount }),
    // The rail is whole without it.
    () => ({ default: () => null }),
  ),
)
const SETTLED_MS = 2_000

type Props = { isFolded: boolean; onFold: () => void; onPalette: () => void }

export function Rail({ isFolded, onFold, onPalette }: Props) {
  const me = useMe()
  const keys = isApple() ? '⌘K' : 'Ctrl K'
  const { projectId = me.team ? String(me.team.id) : undefined, organizationId = me.organization?.id } =
    useParams({ strict: false })
  const project = useQuery({ ...projectQuery(projectId ?? ''), enabled: projectId !== undefined }).data
  const hasEvents = project?.ingested_event ?? true
  const isSettled = useSettled()
  const mayCount = isSettled && project !== undefined
  return (
    <div className={classes.rail} data-folded={isFolded || undefined}>
      <Switchers projectId={projectId} organizationId={organizationId} isFolded={isFolded} />
      <nav aria-label="Pages" className={classes.pages}>
        {projectId !== undefined &&
          projectPlaces(projectId, hasEvents).map((place) => (
            <PlaceLink key={place.label} {...place} isFolded={isFolded}>
              {place.icon === 'exports' && mayCount && (
                <Suspense fallback={null}>
                  <ExportsCount projectId={projectId} isFolded={isFolded} />
                </Suspense>
              )}
            </PlaceLink>
          ))}
        <hr className={classes.line} />
        {otherPlaces(organizationId, me.is_staff).map((place) => (
          <PlaceLink key={place.label} {...place} isFolded={isFolded} />
        ))}
      </nav>
      <Tip label="Sign out" position="right" isOff={!isFolded}>
        <UnstyledButton
          className={classes.place}
          aria-label={isFolded ? 'Sign out' : undefined}
          onClick={() => void signOut()}
        >
          <Icon name="out" />
          {!isFolded && <span className="cut">Sign out</span>}
        </UnstyledButton>
      </Tip>
      <Group gap={4} className={classes.tools} wrap={isFolded ? 'wrap' : 'nowrap'}>
        <Tip label="Find anything">
          <UnstyledButton
            className={classes.find}
            onClick={onPalette}
            aria-label={`Find anything, ${keys}`}
            aria-keyshortcuts="Control+K Meta+K"
          >
            <Icon name="search" size={14} />
            {!isFolded && <kbd className={classes.keys}>{keys}</kbd>}
          </UnstyledButton>
        </Tip>
        <ThemeButton />
        <Tip label="API and its pages">
          <ActionIcon
            component="a"
            href="/docs"
            target="_blank"
            rel="noopener"
            aria-label="API and its pages"
          >
            <Icon name="help" />
          </ActionIcon>
        </Tip>
        <Tip label={isFolded ? 'Unfold the menu' : 'Fold the menu'}>
          <ActionIcon
            onClick={onFold}
            aria-label={isFolded ? 'Unfold the menu' : 'Fold the menu'}
            className={classes.fold}
          >
            <Icon name="fold" />
          </ActionIcon>
        </Tip>
      </Group>
    </div>
  )
}

/** The page itself comes first: what the rail counts may wait. */
function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [])
  return isSettled
}

type PlaceProps = Place & { isFolded: boolean; children?: ReactNode }

function PlaceLink({ label, icon, link, under, isFolded, children }: PlaceProps) {
  const isHere = useLocation({ select: ({ pathname }) => under !== undefined && pathname.startsWith(under) })
  return (
    <Tip label={label} position="right" isOff={!isFolded}>
      <Link
        {...link}
        className={classes.place}
        aria-label={isFolded ? label : undefined}
        aria-current={isHere ? 'page' : undefined}
        activeProps={{ 'aria-current': 'page' }}
      >
        <Icon name={icon} />
        {!isFolded && <span className="cut">{label}</span>}
        {children}
      </Link>
    </Tip>
  )
}

const THEMES = ['auto', 'light', 'dark'] as const
const THEME_NAMES = { auto: 'as the system has it', light: 'light', dark: 'dark' }

function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = THEMES[(THEMES.indexOf(colorScheme) + 1) % THEMES.length]!
  const label = `Theme: ${THEME_NAMES[colorScheme]}. Change to ${THEME_NAMES[next]}`
  return (
    <Tip label={label}>
      <ActionIcon onClick={() => setColorScheme(next)} aria-label={label}>
        <Icon name="theme" />
      </ActionIcon>
    </Tip>
  )
}

const isApple = () => /mac|iphone|ipad/i.test(navigator.userAgent)
