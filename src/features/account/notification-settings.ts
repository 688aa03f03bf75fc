// `notification_settings`: the keys that PostHog knows, each with its form and what it is unless told. A change touches
// only the keys it brings, and inside a key that maps ids only those ids.
import { invalid } from '../../platform/http/errors.ts'
import { storedBytes } from '../../platform/http/fields.ts'
import { isObject, type JsonObject } from '../../lib/json-object.ts'

type Form = 'switch' | 'share' | 'switches by id' | 'switches by kind and id'

const KEYS: Readonly<Record<string, { form: Form; standard: unknown }>> = {
  plugin_disabled: { form: 'switch', standard: true },
  error_tracking_issue_assigned: { form: 'switch', standard: true },
  discussions_mentioned: { form: 'switch', standard: true },
  all_weekly_digest_disabled: { form: 'switch', standard: false },
  all_weekly_report_disabled: { form: 'switch', standard: false },
  data_pipeline_error_threshold: { form: 'share', standard: 0 },
  project_weekly_digest_disabled: { form: 'switches by id', standard: {} },
  error_tracking_weekly_digest_project_enabled: { form: 'switches by id', standard: {} },
  web_analytics_weekly_digest_project_enabled: { form: 'switches by id', standard: {} },
  organization_member_join_email_disabled: { form: 'switches by id', standard: {} },
  pipeline_notifications_disabled: { form: 'switches by id', standard: {} },
  realtime_notifications_disabled: { form: 'switches by kind and id', standard: {} },
}

const MAX_IDS = 1000
const MAX_ID = 64
const MAX_BYTES = 65_536
const STANDARD: JsonObject = Object.fromEntries(
  Object.entries(KEYS).map(([key, { standard }]) => [key, standard]),
)

/** What is stored, and for the rest what holds unless told. */
export function presentNotificationSettings(stored: JsonObject): JsonObject {
  return { ...STANDARD, ...stored }
}

export function mergeNotificationSettings(stored: JsonObject, sent: JsonObject): JsonObject {
  const merged = { ...stored }
  for (const [key, value] of Object.entries(sent)) {
    const known = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
    if (!known) throw wrong(`There is no such setting. Choose among: ${Object.keys(KEYS).join(', ')}.`)
    merged[key] = mergeValue(key, known.form, stored[key], value)
  }
  if (storedBytes(merged) > MAX_BYTES) throw wrong(`All settings together take ${MAX_BYTES} bytes at most.`)
  return merged
}

function mergeValue(key: string, form: Form, stored: unknown, value: unknown): unknown {
  switch (form) {
    case 'switch':
      if (typeof value !== 'boolean') throw wrong(`${key} is true or false.`)
      return value
    case 'share':
      if (typeof value !== 'number' || !(value >= 0 && value <= 1))
        throw wrong(`${key} lies between 0 and 1.`)
      return value
    case 'switches by id':
      return mergeSwitches(key, stored, value)
    case 'switches by kind and id': {
      const kinds = objectOf(key, value)
      const before = isObject(stored) ? stored : {}
      const merged = Object.entries(kinds).map(([kind, ids]) => [kind, mergeSwitches(key, before[kind], ids)])
      return limited(key, { ...before, ...(Object.fromEntries(merged) as JsonObject) })
    }
  }
}

function mergeSwitches(key: string, stored: unknown, value: unknown): JsonObject {
  const sent = objectOf(key, value)
  if (Object.values(sent).some((on) => typeof on !== 'boolean'))
    throw wrong(`${key} maps ids to true or false.`)
  return limited(key, { ...(isObject(stored) ? stored : {}), ...sent })
}

function objectOf(key: string, value: unknown): JsonObject {
  if (!isObject(value)) throw wrong(`${key} is an object of ids.`)
  if (Object.keys(value).some((id) => id.length > MAX_ID))
    throw wrong(`Ids in ${key} have ${MAX_ID} characters at most.`)
  return value
}

function limited(key: string, merged: JsonObject): JsonObject {
  if (Object.keys(merged).length > MAX_IDS) throw wrong(`${key} takes ${MAX_IDS} ids at most.`)
  return merged
}

function wrong(detail: string) {
  return invalid('notification_settings', 'invalid_input', detail)
}
