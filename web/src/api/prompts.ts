// What a request may need of the person before it can be sent again: to sign in, or to confirm who they are. Requests
// wait for the answer, so nothing that was typed is lost. frame/Prompts.tsx asks.

export type Prompt = 'sign-in' | 'confirm'

type Open = { prompt: Prompt; answer: Promise<boolean>; settle(isDone: boolean): void }

let open: Open | null = null
let isSomebodyHere = false
/** Somebody has closed the question whether to sign in again, and has clicked on nothing since. */
let isSignInDeclined = false
const listeners = new Set<() => void>()

/** Somebody has turned out to be signed in. Until then a refusal is an answer: there is nobody to ask. */
export function noteSomebody(): void {
  isSomebodyHere = true
}
export const mayAsk = (): boolean => isSomebodyHere

/**
 * Resolves when it is done (true) or was declined (false). Requests that need the same thing share one question. Pages ask
 * for fresh answers by themselves: whoever would rather read on is not asked again until they do something.
 */
export function ask(prompt: Prompt): Promise<boolean> {
  if (open !== null) return open.answer
  if (prompt === 'sign-in' && isSignInDeclined) return Promise.resolve(false)
  let settle: (isDone: boolean) => void = () => {}
  const answer = new Promise<boolean>((resolve) => {
    settle = (isDone) => {
      open = null
      if (prompt === 'sign-in' && !isDone) declineSignIn()
      resolve(isDone)
      tell()
    }
  })
  open = { prompt, answer, settle }
  tell()
  return answer
}

/** Until the next click, which is also what Enter on a button or link is to the page. */
function declineSignIn(): void {
  isSignInDeclined = true
  addEventListener('click', () => (isSignInDeclined = false), { capture: true, once: true })
}

export const currentPrompt = (): Open | null => open

export function onPrompt(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}
