import { Drawer } from '@mantine/core'
import { Suspense, useEffect, useState } from 'react'
import type { DetailsProps } from './Details'
import { useOnTop } from './on-top'
import { Loading } from './States'

export function DetailsDrawer({ isOpen, onClose, title, children, size = 'var(--ls-drawer)' }: DetailsProps) {
  const isOnTop = useOnTop(isOpen)
  // It remembers where the focus was as it opens, not as it comes.
  const [isShown, setShown] = useState(false)
  useEffect(() => setShown(isOpen), [isOpen])
  return (
    <Drawer
      opened={isShown}
      onClose={() => isOnTop() && onClose()}
      title={title}
      size={size}
      overlayProps={{ backgroundOpacity: 0.15 }}
    >
      <Suspense fallback={<Loading />}>{isOpen && children}</Suspense>
    </Drawer>
  )
}
