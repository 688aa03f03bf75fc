// A dialog over the page. It closes alone, and gives the focus back to where it was.
import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useOnTop } from './on-top'

export function Dialog({ onClose, ...modal }: ModalProps) {
  const isOnTop = useOnTop(modal.opened)
  // Mantine does not know where the focus was if a dialog is open from its beginning.
  const [before] = useState(() => (modal.opened ? document.activeElement : null))
  useEffect(
    () => () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    },
    [before],
  )
  return <Modal {...modal} onClose={() => isOnTop() && onClose()} />
}
