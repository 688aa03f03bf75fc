// Messages that several streams send, for the document.
import { z } from 'zod'

export const LeftOut = z.object({ after: z.int(), until: z.int() }).meta({
  id: 'LeftOut',
  description: 'The client was too far behind: what has positions after `after`, up to `until`, is left out.',
})

export const EndOfStream = z
  .object({
    reason: z.enum(['finished', 'error']),
    type: z.string().optional(),
    code: z.string().optional(),
    detail: z.string().optional(),
    attr: z.string().nullish(),
  })
  .meta({
    id: 'EndOfStream',
    description: 'Nothing more comes: all was told, or an error of the usual shape, such as lost rights.',
  })
