import { Drawer } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'

type Props = { isOpen: boolean; onClose: () => void; children: ReactNode }

/** The rail where there is no room for it beside the page. */
export function NarrowMenu({ isOpen, onClose, children }: Props) {
  // It remembers where the focus was as it opens, not as it comes.
  const [isShown, setShown] = useState(false)
  useEffect(() => setShown(isOpen), [isOpen])
  return (
    <Drawer opened={isShown} onClose={onClose} position="left" size="260px" title="Longshore">
      {children}
    </Drawer>
  )
}
