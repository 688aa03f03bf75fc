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
  const small = clean.toLowerCase()
  const found = forms.filter((form) => form.length < MIN_ANYWHERE || small.includes(plainPart(form)))
  for (const form of found) clean = clean.replaceAll(patternOf(form), MASK)
  // What was cut off may have been the rest of a secret.
  if (text.length > MAX_READ) {
    clean = clean.slice(0, Math.max(0, clean.length - Math.max(0, ...forms.map(longestSpelling))))
  }
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

/** The value, parts of it that give it away, and both in base64. */
function formsOf(value: string): string[] {
  if (value.length < MIN_ANYWHERE) return value.trim() === '' ? [] : [value]
  // An error may quote one line of a key, or the key without its line breaks.
  const lines = value.split(/[\r\n]+/)
  const texts = lines.length > 1 ? [value, lines.join(''), lines.join(' ')] : [value]
  texts.push(...lines.map((line) => line.trim()).filter((line) => line.length >= 2 * MIN_ANYWHERE))
  return texts.flatMap((text) => [text, ...base64Forms(text)])
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

/** Nobody escapes letters and digits, so a text without these holds no spelling: patterns are ten times as dear. */
function plainPart(form: string): string {
  const runs = form.match(/[A-Za-z0-9]+/g) ?? ['']
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest)).toLowerCase()
}

/** In any case: some databases write names in capitals, and `%2f` is `%2F`. */
function patternOf(form: string): RegExp {
  const whole = form.replaceAll(ESCAPED, (char) => `(?:${spellings(char).map(literal).join('|')})`)
  return form.length < MIN_ANYWHERE
    ? new RegExp(String.raw`(?<![\p{L}\p{N}_])${whole}(?![\p{L}\p{N}_])`, 'giu')
    : new RegExp(whole, 'gi')
}

function longestSpelling(form: string): number {
  return form.replaceAll(ESCAPED, (char) => spellings(char)[0]!).length
}

const ESCAPED = /[^A-Za-z0-9]/gu
const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)

const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** A character as JSON, addresses, forms, HTML and XML write it: no two writers escape the same ones. Longest first. */
function spellings(char: string): string[] {
  const code = char.codePointAt(0)!
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const ways = [
    char,
    `\\${char}`,
    JSON.stringify(char).slice(1, -1),
    Array.from({ length: char.length }, (_, at) => `\\u${hex(char.charCodeAt(at), 4)}`).join(''),
    [...Buffer.from(char)].map((byte) => `%${hex(byte, 2)}`).join(''),
    `&#${code};`,
    `&#0${code};`,
    `&#x${hex(code, 1)};`,
    ...(ENTITIES[char] ? [`&${ENTITIES[char]};`] : []),
    ...(char === ' ' ? ['+'] : []),
  ]
  return [...new Set(ways)].toSorted((a, b) => b.length - a.length)
}
