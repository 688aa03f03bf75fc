// What tools for agents answer, as PostHog's own agents expect it: text to read, and whether the tool did its work.
import { z } from 'zod'
import { ApiError } from '../../platform/http/errors.ts'

export const ToolAnswer = z
  .object({ success: z.boolean(), content: z.string().describe('The result, or what went wrong.') })
  .meta({ id: 'ToolAnswer' })

export type ToolAnswer = z.input<typeof ToolAnswer>

/** Agents read the reason and try again, so a refusal of the question itself is an answer. */
export async function toolAnswer(work: () => Promise<string>): Promise<ToolAnswer> {
  try {
    return { success: true, content: await work() }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    return { success: false, content: `Tool failed: ${error.detail}` }
  }
}
