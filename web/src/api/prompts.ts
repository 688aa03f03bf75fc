// What a request may need of the person before it can be sent again: to sign in, or to confirm who they are. Requests
// wait for the answer, so nothing that was typed is lost. frame/Prompts.tsx asks.

export type Prompt = 'sign-in' | 'confirm'

type Open = { prompt: Prompt; answer: Promise<boolean>; settle(isDone: boolean): void }

let open: Open | null = null
let isSomebodyHere = false
const listeners = new Set<() => void>()

/** Somebody has turned out to be signed in. Until then a refusal is an answer: there is nobody to ask. */
export function noteSomebody(): void {
  isSomebodyHere = true
}
export const mayAsk = (): boolean => isSomebodyHere

/** Resolves when it is done (true) or was declined (false). Requests that need the same thing share one question. */
export function ask(prompt: Prompt): Promise<boolean> {
  if (open !== null) return open.answer
  let settle: (isDone: boolean) => void = () => {}
  const answer = new Promise<boolean>((resolve) => {
    settle = (isDone) => {
      open = null
      resolve(isDone)
      tell()
    }
  })
  open = { prompt, answer, settle }
  tell()
  return answer
}

export const currentPrompt = (): Open | null => open

export function onPrompt(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}
