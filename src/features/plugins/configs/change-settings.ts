// What settings become when others are sent: all of them are replaced, but for secrets, which nobody has seen and so
// nobody can send back.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { SchemaField } from '../config-schema.ts'
import { hasValue, type ConfigParts } from './settings.ts'

/** Shown in place of a secret. Clients compare with it. */
export const SECRET_MASK = '**************** POSTHOG SECRET FIELD ****************'

/** Once sealed, a setting stays secret until it is cleared, whatever the plugin's next version says of it. */
export function secretKeys(fields: readonly SchemaField[], secrets: JsonObject): Set<string> {
  return new Set([...fields.filter(({ secret }) => secret).map(({ key }) => key), ...Object.keys(secrets)])
}

export function changedSettings(
  fields: readonly SchemaField[],
  stored: ConfigParts,
  sent: JsonObject,
): ConfigParts {
  const secret = secretKeys(fields, stored.secrets)
  const attached = new Set(fields.filter(({ type }) => type === 'attachment').map(({ key }) => key))
  // A field that has become secret may still have its value among those that are shown.
  const old = new Map(Object.entries({ ...stored.config, ...stored.secrets }))
  const shown = Object.entries(sent).filter(([key]) => !secret.has(key) && !attached.has(key))
  const kept = [...secret]
    .filter((key) => !attached.has(key))
    .map((key) => [key, secretValue(Object.hasOwn(sent, key) ? sent[key] : null, old.get(key))] as const)
  return {
    config: Object.fromEntries(shown),
    secrets: Object.fromEntries(kept.filter(([, value]) => hasValue(value))),
  }
}

function secretValue(sent: unknown, old: unknown): unknown {
  return sent === null || sent === SECRET_MASK ? old : sent
}

/** Settings as everybody may see them. */
export function maskedSettings(fields: readonly SchemaField[], { config, secrets }: ConfigParts): JsonObject {
  const secret = secretKeys(fields, secrets)
  const shown = Object.entries({ ...config, ...secrets }).map(([key, value]) => [
    key,
    secret.has(key) && hasValue(value) ? SECRET_MASK : value,
  ])
  return Object.fromEntries(shown) as JsonObject
}
