// The rail at the left and the page beside it. Below 900 px the rail is a drawer.
import { ActionIcon } from '@mantine/core'
import { useHotkeys, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { isConnectionLost, onConnection } from '../api/connection'
import { currentPrompt, onPrompt } from '../api/prompts'
import { Icon } from '../ui/Icon'
import { Loading } from '../ui/States'
import { NARROW } from '../ui/theme'
import { Tip } from '../ui/Tip'
import classes from './Frame.module.css'
import { Rail } from './Rail'

const NarrowMenu = lazy(() => import('./NarrowMenu').then(({ NarrowMenu }) => ({ default: NarrowMenu })))
const Prompts = lazy(() => import('./Prompts').then(({ Prompts }) => ({ default: Prompts })))
const Palette = lazy(() => import('./Palette').then(({ Palette }) => ({ default: Palette })))

export function Frame() {
  const [isFolded, setFolded] = useLocalStorage({ key: 'rail-folded', defaultValue: false })
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setOpened] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const isNarrow = useMediaQuery(`(max-width: ${NARROW})`, undefined, { getInitialValueInEffect: false })
  const isLost = useSyncExternalStore(onConnection, isConnectionLost)
  const isAsking = useSyncExternalStore(onPrompt, currentPrompt) !== null
  const { pathname } = useLocation()
  useHotkeys([['mod+K', () => setPaletteOpen(true)]], [])
  useEffect(() => setOpen(false), [pathname])

  const rail = (isSmall: boolean) => (
    <Rail isFolded={isSmall} onFold={() => setFolded(!isFolded)} onPalette={() => setPaletteOpen(true)} />
  )
  return (
    <div className={classes.frame}>
      <a href="#content" className={classes.skip}>
        Skip to the content
      </a>
      {isNarrow ? (
        <>
          <div className={classes.bar}>
            <Tip label="Menu">
              <ActionIcon
                aria-label="Menu"
                onClick={() => {
                  setOpened(true)
                  setOpen(true)
                }}
              >
                <Icon name="menu" />
              </ActionIcon>
            </Tip>
          </div>
          <Suspense fallback={null}>
            {wasOpened && (
              <NarrowMenu isOpen={isOpen} onClose={() => setOpen(false)}>
                {rail(false)}
              </NarrowMenu>
            )}
          </Suspense>
        </>
      ) : (
        <aside className={classes.rail} data-folded={isFolded || undefined} aria-label="Menu">
          {rail(isFolded)}
        </aside>
      )}
      <main id="content" className={classes.main} tabIndex={-1}>
        {isLost && (
          <p className={classes.lost} role="status">
            The server does not answer. This page goes on by itself when it does.
          </p>
        )}
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </main>
      {isAsking && (
        <Suspense fallback={null}>
          <Prompts />
        </Suspense>
      )}
      {isPaletteOpen && (
        <Suspense fallback={null}>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}
