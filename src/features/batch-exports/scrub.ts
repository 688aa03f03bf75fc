// What a destination said, made fit to be stored and shown: without secrets, short, on one line. For `latest_error`, logs
// and the results of destination tests.
import type { JsonObject } from '../../lib/json-object.ts'
import type { DestinationKind } from './destinations/destination.ts'
import { oneLine } from './logs/write.ts'
import { splitConfig } from './secrets.ts'

const MAX_CHARACTERS = 2_000
// Some servers answer with megabytes. What is read beyond the shown part is what the secrets in it may take up.
const MAX_READ = 100_000
/** Shorter ones are part of every other word. */
const MIN_ANYWHERE = 4
const MASK = '***'

export function scrub(text: string, secretValues: readonly string[]): string {
  const forms = [...new Set(secretValues.flatMap(formsOf))].toSorted((a, b) => b.length - a.length)
  let clean = text.slice(0, MAX_READ)
  for (const form of forms) clean = clean.replaceAll(patternOf(form), MASK)
  // What was cut off may have been the rest of a secret.
  if (text.length > MAX_READ) clean = clean.slice(0, Math.max(0, clean.length - (forms[0]?.length ?? 0)))
  clean = oneLine(clean.replaceAll(/\/\/[^\s/?#]*@/g, `//${MASK}@`))
  return clean.length <= MAX_CHARACTERS ? clean : `${clean.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…`
}

/** What must not be seen of a whole configuration. */
export function secretValuesOf(kind: Pick<DestinationKind, 'secrets'>, config: JsonObject): string[] {
  return textsIn(splitConfig(kind, config).secrets)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The ways in which a value turns up in addresses, headers and quoted texts. */
function formsOf(value: string): string[] {
  if (value.length < MIN_ANYWHERE) return value.trim() === '' ? [] : [value]
  // An error may quote one line of a key, or the key without its line breaks.
  const lines = value.split(/[\r\n]+/)
  const texts = lines.length > 1 ? [value, lines.join(''), lines.join(' ')] : [value]
  texts.push(...lines.map((line) => line.trim()).filter((line) => line.length >= 2 * MIN_ANYWHERE))
  return texts.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    ...urlForms(text),
    ...base64Forms(text),
  ])
}

function urlForms(text: string): string[] {
  const whole = text.toWellFormed()
  return [encodeURIComponent(whole), encodeURI(whole), String(new URLSearchParams({ '': whole })).slice(1)]
}

/** Wherever in a longer text it stood when that was encoded, as a password does in `user:password`. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text)
  return [0, 1, 2].flatMap((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes])
    // Characters at either end that carry bits of a neighbour are left out.
    const own = shifted
      .toString('base64url')
      .slice(Math.ceil((before * 4) / 3), Math.floor((shifted.length * 4) / 3))
    return own.length < MIN_ANYWHERE ? [] : [own, own.replaceAll('-', '+').replaceAll('_', '/')]
  })
}

/** In any case: some databases write names in capitals, and `%2f` is `%2F`. */
function patternOf(form: string): RegExp {
  const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
  return form.length < MIN_ANYWHERE
    ? new RegExp(String.raw`(?<![\p{L}\p{N}_])${escaped}(?![\p{L}\p{N}_])`, 'giu')
    : new RegExp(escaped, 'gi')
}
