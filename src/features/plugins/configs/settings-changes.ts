// Changed settings as the activity log shows them: secrets masked, long values cut.
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Change } from '../../activity-log/schema.ts'
import type { SchemaField } from '../config-schema.ts'
import { secretKeys, SECRET_MASK } from './change-settings.ts'
import { hasValue, type ConfigParts } from './settings.ts'

const MAX_CHARACTERS = 1000

export function settingsChanges(
  fields: readonly SchemaField[],
  before: ConfigParts,
  after: ConfigParts,
): Change[] {
  const secret = secretKeys(fields, { ...before.secrets, ...after.secrets })
  const olds = wholeOf(before)
  const news = wholeOf(after)
  const keys = [...new Set([...olds.keys(), ...news.keys()])]
  return keys
    .filter((key) => !isDeepStrictEqual(olds.get(key), news.get(key)))
    .map((key) => ({
      type: 'PluginConfig',
      action: !olds.has(key) ? 'created' : news.has(key) ? 'changed' : 'deleted',
      field: key,
      before: shown(olds.get(key), secret.has(key)),
      after: shown(news.get(key), secret.has(key)),
    }))
}

function wholeOf({ config, secrets }: ConfigParts): Map<string, unknown> {
  return new Map(Object.entries<unknown>({ ...config, ...secrets } satisfies JsonObject))
}

function shown(value: unknown, is_secret: boolean): unknown {
  if (!hasValue(value)) return value ?? null
  if (is_secret) return SECRET_MASK
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_CHARACTERS ? value : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…`
}
