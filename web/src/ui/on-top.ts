// Escape is heard by every dialog that is open: only the one that lies on top may close.
import { useEffect, useEffectEvent, useState } from 'react'

/** The last opened is the last. */
const open: { onTried?: () => void }[] = []

export function useOnTop(isOpen: boolean): () => boolean {
  const [self] = useState(() => ({}))
  useEffect(() => {
    if (!isOpen) return
    open.push(self)
    return () => void open.splice(open.indexOf(self), 1)
  }, [isOpen, self])
  return () => {
    const top = open.at(-1)
    top?.onTried?.()
    return top === self
  }
}

/** Keeps open what it stands in: Escape, a click beside it and its cross only tell that somebody tried. */
export function useHold(isHeld: boolean, onTried: () => void): void {
  const tried = useEffectEvent(onTried)
  useEffect(() => {
    if (!isHeld) return
    const self = { onTried: tried }
    open.push(self)
    return () => void open.splice(open.indexOf(self), 1)
  }, [isHeld])
}
