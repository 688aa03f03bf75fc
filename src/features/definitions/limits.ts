// How large a project's catalogue may get. A token is public: whoever has it can send a million names.

/** As PostHog has it: what is longer is data that stands where a name belongs. */
const MAX_NAME_BYTES = 200

export const MAX_EVENTS = 5_000
/** Properties of events, of persons, and of each type of groups: so many each. */
export const MAX_PROPERTIES = 5_000
export const MAX_PROPERTIES_OF_EVENT = 1_000
/** Over all events of a project, each with each of its properties. */
export const MAX_PAIRS = 50_000

/** Whether it can be listed: short, and fit for a column of PostgreSQL. */
export function isName(name: string): boolean {
  if (name === '' || name.length > MAX_NAME_BYTES) return false
  return Buffer.byteLength(name) <= MAX_NAME_BYTES && !name.includes('\0') && name.isWellFormed()
}
