// Whether the server answers at the moment, as the last request found out.

let isLost = false
const listeners = new Set<() => void>()

export const isConnectionLost = (): boolean => isLost

export function noteConnection(answered: boolean): void {
  if (isLost === !answered) return
  isLost = !answered
  for (const listener of listeners) listener()
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
