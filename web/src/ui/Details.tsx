// Details of a row, from the right, with an address of their own: the page says when they are open by its address, and
// Escape goes back to the list as it was.
import { Drawer } from '@mantine/core'
import { Suspense, type ReactNode } from 'react'
import { useOnTop } from './on-top'
import { Loading } from './States'

type Props = { isOpen: boolean; onClose: () => void; title: ReactNode; children: ReactNode; size?: string }

export function Details({ isOpen, onClose, title, children, size = 'var(--ls-drawer)' }: Props) {
  const isOnTop = useOnTop(isOpen)
  return (
    <Drawer
      opened={isOpen}
      onClose={() => isOnTop() && onClose()}
      title={title}
      size={size}
      overlayProps={{ backgroundOpacity: 0.15 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Suspense fallback={<Loading />}>{isOpen && children}</Suspense>
    </Drawer>
  )
}
