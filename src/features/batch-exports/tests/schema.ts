// Tests of a destination as the API takes and gives them.
import { z } from 'zod'
import { int } from '../../../platform/http/fields.ts'
import { textParameter } from '../../../platform/http/parameters.ts'

const step = { name: z.string(), description: z.string() }

export const StepsQuery = z.object({ destination: textParameter('Type of destination, e.g. `S3`.') })

export const Steps = z.object({ steps: z.array(z.object({ ...step, result: z.null() })) })

export const TestedStep = z.object({
  ...step,
  result: z.object({
    status: z.enum(['Passed', 'Failed']),
    message: z.string().nullable().describe('Why it failed, without secrets.'),
  }),
})

const config = z.record(z.string(), z.unknown())
const stepIndex = int({ min: 0 })
  .default(0)
  .describe('Index of the step; each presumes that those before it passed.')

/** What creates an export will do; only the destination counts. */
export const NewTestRequest = z.object({
  destination: z.object({ type: z.string(), config }),
  step: stepIndex,
})

export const TestRequest = z.object({
  destination: z
    .object({ type: z.string(), config })
    .partial()
    .optional()
    .describe('Goes over what is stored, secrets included.'),
  step: stepIndex,
})
