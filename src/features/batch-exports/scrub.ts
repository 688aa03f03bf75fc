// What a destination said, made fit to be stored and shown: without secrets, short, on one line. For `latest_error`, logs
// and the results of destination tests.
import type { JsonObject } from '../../lib/json-object.ts'
import { Redactor } from '../../platform/secrets/redactor.ts'
import type { DestinationKind } from './destinations/destination.ts'
import { oneLine } from './logs/write.ts'
import { splitConfig } from './secrets.ts'

const MAX_CHARACTERS = 2_000
// Some servers answer with megabytes. What is read beyond the shown part is what the secrets in it may take up.
const MAX_READ = 100_000

export function scrub(text: string, redactor: Redactor): string {
  const clean = redactor.clean(text.slice(0, MAX_READ), text.length > MAX_READ)
  const line = oneLine(clean.replaceAll(/\/\/[^\s/?#]*@/g, '//***@'))
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…`
}

/** Takes out the secrets of a whole configuration. */
export function redactorOf(kind: Pick<DestinationKind, 'secrets'>, config: JsonObject): Redactor {
  return new Redactor(splitConfig(kind, config).secrets, { short: 'words' })
}
