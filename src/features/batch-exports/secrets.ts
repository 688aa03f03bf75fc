// A destination's configuration in two parts: what may be shown, and the secrets, which are sealed for the row they
// stand in and leave it only for a run or a test of the destination.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import type { SealedCell } from '../../platform/secrets/secrets.ts'
import type { Services } from '../../platform/services.ts'
import type { DestinationKind } from './destinations/destination.ts'
import type { ExportRow } from './rows.ts'

type Sealing = Pick<Services, 'secrets'>

/** Both have the shape of the whole, each without what is in the other. */
export type ConfigParts = { config: JsonObject; secrets: JsonObject }

export function splitConfig(kind: Pick<DestinationKind, 'secrets'>, whole: JsonObject): ConfigParts {
  return split(whole, kind.secrets)
}

/** `paths` lead to secrets, at any depth: `password`, `copy_inputs.authorization`. */
function split(whole: JsonObject, paths: readonly string[]): ConfigParts {
  const parts: ConfigParts = { config: {}, secrets: {} }
  for (const [key, value] of Object.entries(whole)) {
    const below = paths.filter((path) => path.startsWith(`${key}.`)).map((path) => path.slice(key.length + 1))
    if (paths.includes(key)) parts.secrets[key] = value
    else if (below.length === 0 || !isObject(value)) parts.config[key] = value
    else {
      const inner = split(value, below)
      parts.config[key] = inner.config
      parts.secrets[key] = inner.secrets
    }
  }
  return parts
}

/** Key by key, at any depth; where not both have an object, the one on top wins. */
export function mergeConfig(below: JsonObject, above: JsonObject): JsonObject {
  const merged = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key]
    merged[key] = isObject(under) && isObject(value) ? mergeConfig(under, value) : value
  }
  return merged
}

export function sealSecrets(services: Sealing, id: string, secrets: JsonObject): string {
  return services.secrets.seal(JSON.stringify(secrets), sealedIn(id))
}

function openSecrets(services: Sealing, { id, secrets }: Pick<ExportRow, 'id' | 'secrets'>): JsonObject {
  return JSON.parse(services.secrets.open(secrets, sealedIn(id))) as JsonObject
}

/** The whole configuration, as its schema gave it. For runs and tests of the destination, and for changing it. */
export function configWithSecrets(
  services: Sealing,
  row: Pick<ExportRow, 'id' | 'config' | 'secrets'>,
): JsonObject {
  return mergeConfig(row.config, openSecrets(services, row))
}

/** Moved to another row, a sealed value cannot be opened. */
export function sealedIn(id: string): SealedCell {
  return { table: 'batch_export', row: id, column: 'secrets' }
}
