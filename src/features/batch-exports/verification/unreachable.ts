// The problem of what could not be read back.
import type { JsonObject } from '../../../lib/json-object.ts'
import { redactorOf, scrub } from '../scrub.ts'
import { testAdvice } from './advice.ts'
import type { DeliveryPlace } from './deliveries.ts'
import type { Problem } from './rows.ts'
import type { Verifying } from './verifying.ts'

/** `config` has the secrets, which what the destination said may repeat. */
export function unreachable(
  { row }: Pick<Verifying, 'row'>,
  { kind }: DeliveryPlace,
  config: JsonObject,
  said: string,
  run: string | null = null,
): Problem {
  const message = scrub(`The destination could not be read: ${said}`, redactorOf(kind, config))
  return {
    kind: 'unreachable',
    run,
    file: null,
    uuid: null,
    position: null,
    message,
    what_to_do: testAdvice(row),
  }
}
