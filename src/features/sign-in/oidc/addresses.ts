// What the addresses of starts and returns may say. A return that is not what it should be is refused and recorded like
// any other, so nothing in it is an error of form.
import { z } from 'zod'

const asked = z.string().max(2000).optional()
const given = z.string().max(8000).optional().catch(undefined)

export const Start = z.object({ next: asked })
export const DomainStart = Start.extend({ domain: asked, email: asked, test: asked })
export const Return = z.object({
  state: given,
  code: given,
  iss: given,
  error: given,
  error_description: given,
})

/** What is there, and which of our addresses it came to. */
export function answerOf(
  { state: _, ...rest }: z.output<typeof Return>,
  returned_to: string,
): Record<string, string> {
  const there = Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(there), returned_to }
}
