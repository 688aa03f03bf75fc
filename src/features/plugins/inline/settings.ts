// Settings of apps come as text that people typed. Apps read them once, when they are opened, not for each event.
import type { JsonObject } from '../../../lib/json-object.ts'

/** The time that an event takes grows with the names: a thousand of them take a tenth of a millisecond. */
const MAX_NAMES = 1_000
const MAX_CHARACTERS = 64 * 1024

/** A setting that no app can be opened with. The message is a sentence for whoever wrote it. */
export class SettingFault extends Error {
  constructor(
    readonly key: string,
    message: string,
  ) {
    super(message)
  }
}

/** `a, b ,,c` as a, b and c. Throws SettingFault. */
export function readNames(config: JsonObject, key: string): ReadonlySet<string> {
  const value = config[key]
  if (typeof value !== 'string') return new Set()
  if (value.length > MAX_CHARACTERS)
    throw new SettingFault(key, `The list of names can have ${MAX_CHARACTERS} characters at most.`)
  const names = new Set(value.split(',').map((entry) => entry.trim()))
  names.delete('')
  if (names.size > MAX_NAMES) throw new SettingFault(key, `The list can have ${MAX_NAMES} names at most.`)
  return names
}

export const YES_NO = ['No', 'Yes'] as const

export function isYes(value: unknown): boolean {
  return value === 'Yes'
}
