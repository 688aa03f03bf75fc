// Query parameters that several lists share. Left blank, as forms send them, they count as not given; given twice, the
// last counts unless several are wanted.
import { z } from 'zod'
import { formatMicros } from '../../lib/microseconds.ts'
import { parseMoment } from '../../lib/relative-time.ts'
import { invalid } from './errors.ts'

export function textParameter(description: string) {
  const last = (value: unknown) => (Array.isArray(value) ? value.at(-1) : value) || undefined
  return z.preprocess(last, z.string().optional()).describe(description)
}

/** Given several times or with commas between, in any case; null when not given. */
export function choicesParameter<const Choice extends string>(
  choices: readonly Choice[],
  description: string,
) {
  const known = new Map(choices.map((choice) => [choice.toLowerCase(), choice]))
  return z
    .unknown()
    .transform((value, context): Choice[] | null => {
      const asked = [value].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
      const names = asked.map((text) => text.trim().toLowerCase()).filter((text) => text !== '')
      const chosen = names.map((name) => known.get(name)).filter((choice) => choice !== undefined)
      if (chosen.length === names.length) return chosen.length === 0 ? null : chosen
      const message = `Choose among: ${choices.join(', ')}.`
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_choice' } })
      return z.NEVER
    })
    .optional()
    .meta({ type: 'array', items: { type: 'string', enum: choices }, description })
}

export type Clock = { now: Date; timezone: string }

/** An instant as PostgreSQL takes it, to the microsecond; null when not given. */
export function readMoment(name: string, text: string | undefined, clock: Clock): string | null {
  if (text === undefined) return null
  const micros = parseMoment(text, clock.now, clock.timezone)
  const instant = micros === null ? '' : formatMicros(micros)
  // An offset can lead out of the years 1 to 9999, where PostgreSQL reads ISO 8601 otherwise.
  if (/^(?!0000)\d{4}-/.test(instant)) return instant
  throw invalid(name, 'invalid_input', 'This is neither an ISO 8601 date nor a distance such as -7d.')
}
