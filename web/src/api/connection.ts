// Whether the server answers at the moment, as the last request found out. While it does not, it is asked again and again,
// so that a page goes on by itself even when nothing on it would ask.

const ASK_AGAIN_MS = 3_000

let isLost = false
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

export const isConnectionLost = (): boolean => isLost

export function noteConnection(answered: boolean): void {
  if (isLost === !answered) return
  isLost = !answered
  if (isLost) timer = setInterval(askAgain, ASK_AGAIN_MS)
  else clearInterval(timer)
  for (const listener of listeners) listener()
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const askAgain = () =>
  void fetch('/_livez').then(
    () => noteConnection(true),
    () => undefined,
  )

addEventListener('offline', () => noteConnection(false))
addEventListener('online', askAgain)
