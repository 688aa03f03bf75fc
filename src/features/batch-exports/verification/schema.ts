// Verifications as the API gives them, and what one can be asked for.
import { z } from 'zod'
import { instant, timestamp, uuid } from '../../../platform/http/fields.ts'
import { textParameter } from '../../../platform/http/parameters.ts'
import { PROBLEM_KINDS, STATUSES, TRIGGERS, VERDICTS } from './rows.ts'

const Verdict = z
  .enum(VERDICTS)
  .nullable()
  .describe(
    '`unreachable`: something could not be read, and all the rest is intact. `unclear`: something differs that may be the work of ' +
      'another export or of a run that is not done, or a column of the table has a type that cannot be compared; the notes ' +
      'say what. Null until it has ended.',
  )

const Problem = z.object({
  kind: z.enum(PROBLEM_KINDS),
  run: uuid.nullable().describe('The run that delivered it, or should have.'),
  file: z.string().nullable(),
  uuid: z.string().nullable().describe("The event's uuid."),
  position: z.int().nullable().describe("The event's position in the event store."),
  message: z.string(),
  what_to_do: z.string().describe('The request that heals it, or what else to do.'),
})

export const Verification = z
  .object({
    id: uuid,
    batch_export: uuid,
    trigger: z.enum(TRIGGERS).describe('After a run, on the daily timetable, or on request.'),
    run: uuid.nullable().describe('The run whose delivery is verified; null for more than one.'),
    start_at: timestamp.nullable().describe('Only what was delivered in intervals that end after it.'),
    end_at: timestamp.nullable().describe('Only what was delivered in intervals that end by then.'),
    status: z.enum(STATUSES),
    verdict: Verdict,
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    runs: z.int().describe('Runs whose delivery was looked at, so far.'),
    files: z.int(),
    rows: z.int(),
    bytes: z.int().describe('Bytes of files that were read.'),
    problems: z.array(Problem).describe('The first hundred.'),
    problems_count: z.int().describe('All of them.'),
    notes: z.array(z.string()).describe('What could not be compared, and why.'),
  })
  .meta({ id: 'BatchExportVerification' })

/** The one that counts, as reconciliation shows it. */
export const LatestVerification = z
  .object({ id: uuid, finished_at: timestamp, verdict: Verdict, problems_count: z.int() })
  .meta({ id: 'BatchExportLatestVerification' })

export const VerificationQuery = z.object({
  cursor: textParameter('From `next` or `previous` of an earlier answer.'),
})

export const VerifyRequest = z.object({
  start_at: instant().nullable().optional().describe('Only intervals that end after it.'),
  end_at: instant().nullable().optional().describe('Only intervals that end by then.'),
  run: uuid.nullable().optional().describe('Only what this run delivered.'),
})
export type VerifyRequest = z.output<typeof VerifyRequest>
