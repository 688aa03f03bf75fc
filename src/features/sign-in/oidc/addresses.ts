// What the addresses of starts and returns may say. A return that is not what it should be is refused and recorded like
// any other, so nothing in it is an error of form.
import { z } from 'zod'

const asked = z.string().max(2000).optional()
const sent = z.string().max(8000).optional().catch(undefined)

export const Start = z.object({ next: asked })
export const DomainStart = Start.extend({ domain: asked, email: asked, test: asked })
export const Return = z.object({
  state: sent,
  code: sent,
  iss: sent,
  error: sent,
  error_description: sent,
})

/** What is there, and which of our addresses it came to. */
export function answerOf(given: z.output<typeof Return>, returned_to: string): Record<string, string> {
  const there = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(there), returned_to }
}
