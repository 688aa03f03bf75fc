// The type of a property, guessed from its name and a value: the rules by which PostHog guesses, so that clients that
// know its answers find the same here.

export type PropertyType = 'String' | 'Numeric' | 'Boolean' | 'DateTime'

/** Texts, whatever their first value looks like: campaign `2024` is followed by `spring`. */
const ALWAYS_TEXT = /^(utm_|\$feature\/|\$survey_response|\$feature_flag_response$)/
const NAMES_OF_TIMES = /time|date|_at|-at|createdat|updatedat/
const DATE =
  /^(\d{4}[/-][0-2]\d[/-][0-3]\d|[0-2]\d[/-][0-3]\d[/-]\d{4})([ T][0-2]\d:[0-6]\d:[0-6]\d[^\n]{0,40})?$/
const BOOLEAN = /^(true|false|TRUE|FALSE)$/
/** Longer texts are no dates, and need not be looked at. */
const MAX_DATE_LENGTH = 64
const HALF_A_YEAR_S = 15_768_000

/** Null for null, lists and objects, which have no plain type. */
export function detectPropertyType(name: string, value: unknown, now: Date): PropertyType | null {
  const key = name.toLowerCase()
  if (ALWAYS_TEXT.test(key)) return 'String'
  switch (typeof value) {
    case 'string':
      return typeOfText(value)
    case 'number':
      return NAMES_OF_TIMES.test(key) && isUnixTime(value, now) ? 'DateTime' : 'Numeric'
    case 'boolean':
      return 'Boolean'
    default:
      return null
  }
}

function typeOfText(value: string): PropertyType {
  if (value.length > MAX_DATE_LENGTH) return 'String'
  const text = value.trim()
  if (BOOLEAN.test(text)) return 'Boolean'
  return DATE.test(text) ? 'DateTime' : 'String'
}

/** Seconds or milliseconds of the last half year, or later. */
function isUnixTime(value: number, now: Date): boolean {
  return Number.isInteger(value) && value >= now.getTime() / 1000 - HALF_A_YEAR_S
}
