// Escape is heard by every dialog that is open: only the one that lies on top may close.
import { useEffect, useState } from 'react'

/** The last opened is the last. */
const open: object[] = []

export function useOnTop(isOpen: boolean): () => boolean {
  const [self] = useState(() => ({}))
  useEffect(() => {
    if (!isOpen) return
    open.push(self)
    return () => void open.splice(open.indexOf(self), 1)
  }, [isOpen, self])
  return () => open.at(-1) === self
}
