// Says what a change did. Refusals of forms and dialogs are not said here but where they belong. Notices.tsx shows it.
import { toFailure } from '../api/failure'

export type Notice = { id: number; message: string; isRefusal: boolean }

const SHOWN_MS = { done: 4_000, refused: 12_000 }
const MOST = 4

let notices: readonly Notice[] = []
let count = 0
const listeners = new Set<() => void>()

export const currentNotices = (): readonly Notice[] => notices

export function onNotices(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function done(message: string): void {
  show(message, false)
}

/** For changes made without a form or dialog, such as a switch. */
export function refused(error: unknown): void {
  show(toFailure(error).message, true)
}

export function dismiss(id: number): void {
  set(notices.filter((notice) => notice.id !== id))
}

function show(message: string, isRefusal: boolean): void {
  const id = ++count
  set([...notices, { id, message, isRefusal }].slice(-MOST))
  setTimeout(() => dismiss(id), isRefusal ? SHOWN_MS.refused : SHOWN_MS.done)
}

function set(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}
