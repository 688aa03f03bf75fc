// From a path to the attribute it names, in the spelling of the schema.
import { attributeNamed, type Attribute, type ResourceType } from './attributes.ts'
import type { Path } from './filter.ts'

/** `extension` is the key of the object that holds the attribute; null: the resource itself. */
export type AttributePlace = { extension: string | null; attribute: Attribute; sub: Attribute | null }

/** Undefined when the schema knows no such attribute. */
export function findPlace(type: ResourceType, { schema, attribute, sub }: Path): AttributePlace | undefined {
  const home = homeOf(type, schema)
  const found = home && attributeNamed(home.attributes, attribute)
  if (!home || !found) return undefined
  if (sub === null) return { extension: home.extension, attribute: found, sub: null }
  const inner = attributeNamed(found.subs ?? [], sub)
  return inner && { extension: home.extension, attribute: found, sub: inner }
}

function homeOf(type: ResourceType, schema: string | null) {
  if (schema === null || isSame(schema, type.schema)) return { extension: null, attributes: type.attributes }
  const extension = extensionNamed(type, schema)
  return extension && { extension: extension.schema, attributes: extension.attributes }
}

export function extensionNamed(type: ResourceType, schema: string) {
  return type.extensions.find((extension) => isSame(extension.schema, schema))
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
