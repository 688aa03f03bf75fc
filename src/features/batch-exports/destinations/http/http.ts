// Posts batches of events to an endpoint, one after the other. Each is visible as soon as it is taken, so this is at
// least once: a repeated batch has the run's id and the number that it had before, and its events their uuids.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import {
  Passing,
  Refused,
  Unreachable,
  type Delivery,
  type DeliveryContext,
  type Destination,
} from '../destination.ts'
import { OutboundFailed, OutboundRefused, OutboundUnresolved } from '../../../../platform/outbound/errors.ts'
import type { OutboundAnswer } from '../../../../platform/outbound/call.ts'
import { Redactor } from '../../../../platform/secrets/redactor.ts'
import { scrub } from '../../scrub.ts'
import { batchesOf, emptyBatch, MAX_EVENTS } from './batches.ts'
import type { HttpConfig } from './kind.ts'

// Below the 50 MB that a batch may have: what is added to each event leaves a file one batch.
const FILE_BYTES = 40 * 1000 * 1000
const TIMEOUT_MS = 60_000
const LONGEST_WAIT_MS = 60 * 60_000
const MAX_CHARACTERS = 500

/**
 * Batches that were acknowledged, from the first on, and the rows in them; `receiver` tells the token, which says whose they
 * are there. Versions before this one did not write it down.
 */
const Progress = z
  .object({
    acknowledged: z.int().nonnegative(),
    rows: z.int().nonnegative(),
    receiver: z.string().optional(),
  })
  .catch({ acknowledged: 0, rows: 0 })

const receiverOf = ({ token }: HttpConfig) => createHash('sha256').update(token).digest('hex')

export const http: Destination<HttpConfig> = {
  encoding: () => ({ format: 'JSONLines', compression: null, max_bytes: FILE_BYTES, max_rows: MAX_EVENTS }),
  steps: [
    {
      name: 'Endpoint answers',
      description: 'Sends a batch without events and expects it to be taken.',
      run: (context) => post(context, emptyBatch(context.config.token), {}),
    },
  ],
  open: async (context) => openDelivery(context),
  inspect: null,
}

function openDelivery(context: DeliveryContext<HttpConfig>): Delivery {
  const { config, run, progress, signal } = context
  const receiver = receiverOf(config)
  const last = Progress.parse(progress.last)
  const isSame = last.receiver === undefined || last.receiver === receiver
  let done = isSame ? { ...last, receiver } : { acknowledged: 0, rows: 0, receiver }
  // Rows come in the same order each time. In the same batches only from the same version of this program.
  let known = done.rows
  return {
    async write(file) {
      const taken = Math.min(known, file.rows)
      known -= taken
      if (taken === file.rows) return
      for await (const { rows, body } of batchesOf(file.path, config.token, signal, taken)) {
        await post(context, body, {
          'X-Batch-Export-Run-Id': run.id,
          'X-Batch-Sequence': String(done.acknowledged),
        })
        done = { acknowledged: done.acknowledged + 1, rows: done.rows + rows, receiver }
        await progress.save(done)
      }
    },
    finish: async () => ({ rows: done.rows, files: [] }),
    abort: async () => {},
  }
}

async function post(
  { config, outbound, signal }: Pick<DeliveryContext<HttpConfig>, 'config' | 'outbound' | 'signal'>,
  body: Buffer,
  headers: Record<string, string>,
): Promise<void> {
  const answer = await outbound
    .fetch(config.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
      timeout_ms: TIMEOUT_MS,
      signal,
    })
    .catch((error: unknown) => {
      throw failureOf(error)
    })
  assertTaken(answer, config.token)
}

function failureOf(error: unknown): unknown {
  if (error instanceof OutboundUnresolved) return new Unreachable(error.message)
  if (error instanceof OutboundRefused) return new Refused(error.message)
  if (!(error instanceof OutboundFailed)) return error
  return error.failure === 'request' ? new Refused(error.message) : new Passing(error.message)
}

/** For those who say nothing themselves. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Check the token.',
  403: 'Check the token.',
  404: 'Check `url`.',
  405: 'Check `url`.',
}

function assertTaken({ status, headers, body }: OutboundAnswer, token: string): void {
  if (status >= 200 && status < 300) return
  const message = `The endpoint answered with status ${status}`
  if (status < 400) throw new Refused(`${message}, a redirect. Use the address that it leads to as \`url\`.`)
  const said = scrub(body.toString(), new Redactor(token)).slice(0, MAX_CHARACTERS)
  const passes = status === 429 || status >= 500
  const advice = passes ? '' : ` ${ADVICE[status] ?? 'Its log says why.'}`
  const whole = said === '' ? `${message}.${advice}` : `${message}: ${said}`
  throw passes ? new Passing(whole, retryAfterMs(headers)) : new Refused(whole)
}

/** Seconds or a date; a date is held against the answer's own, so that clocks need not agree. */
function retryAfterMs({ 'retry-after': after, date }: Record<string, string>): number | null {
  if (after === undefined) return null
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(date ?? '')
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS)
}
