// Whether two configurations lead to the same place. Fields that only say how one gets there, such as a user or a region, may
// differ: rows that lie at a place stay the export's own when it gets there in another way.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { DestinationKind } from './destination.ts'

/** Both are of one project. */
const ANY_PROJECT = 0

/** The place of files is a bucket, whatever the prefix; that of rows is a table or an address. */
export function isSamePlace(kind: DestinationKind, one: JsonObject, other: JsonObject): boolean {
  const placeOf = (config: JsonObject) => kind.place?.(config, ANY_PROJECT) ?? kind.target(config)
  return placeOf(one) === placeOf(other)
}

/** The same text for configurations that put the same rows under the same names. */
export function targetKey(kind: DestinationKind, config: JsonObject): string {
  return JSON.stringify([kind.type, kind.place?.(config, ANY_PROJECT) ?? null, kind.target(config)])
}
