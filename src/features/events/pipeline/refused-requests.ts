// What is refused once its persons are known. Each event is stored with the properties of its person: a few kilobytes could
// ask for gigabytes.
import { ApiError } from '../../../platform/http/errors.ts'
import type { ProjectEvent } from '../project-event.ts'

/** What the persons of one request may add to it. */
const MAX_PERSON_TEXT = 128 * 1024 * 1024

export function isTooLarge(events: readonly ProjectEvent[]): boolean {
  let text = 0
  for (const { person } of events) text += person?.properties.length ?? 0
  return text > MAX_PERSON_TEXT
}

export const tooLarge = () =>
  new ApiError(
    'payload_too_large',
    'Each event is stored with the properties of its person, and for this request those would take more than 128 MB. Send fewer events at a time.',
  )

export const projectDeleted = () =>
  new ApiError('invalid_api_key', 'The project of this token was deleted.', null, {
    'www-authenticate': 'Bearer',
  })
