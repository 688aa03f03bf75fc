// The settings that an app asks for: `config_schema`, a list of fields or, of old, an object of them by key.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { invalid } from '../../platform/http/errors.ts'

export type SchemaField = {
  key: string
  type: FieldType
  /** For the type `choice`. */
  choices: readonly unknown[]
  /** Undefined: there is none. */
  default: unknown
  required: boolean
  /** Never given out, and sealed where it is stored. */
  secret: boolean
  /** May be sent to web pages. */
  site: boolean
  required_if: readonly Condition[]
  visible_if: readonly Condition[]
}

/** Another field has this value, or any value where `value` is undefined. */
export type Condition = { key: string; value: unknown }

type FieldType = 'string' | 'attachment' | 'choice' | 'json'

const ATTR = 'config_schema'
const OTHER_TYPES: readonly unknown[] = ['attachment', 'choice', 'json'] satisfies FieldType[]

/** The fields with a key; what has none is text between them. The first of a name wins. */
export function readConfigSchema(config_schema: unknown): SchemaField[] {
  const fields = new Map<string, SchemaField>()
  for (const entry of entriesOf(config_schema)) {
    const { key } = entry
    if (typeof key === 'string' && key !== '' && !fields.has(key)) fields.set(key, readField(key, entry))
  }
  return [...fields.values()]
}

/** 400 for what a client may not store. */
export function assertConfigSchema(config_schema: unknown): void {
  if (!isObject(config_schema) && !Array.isArray(config_schema)) {
    throw complain('The fields are a list of objects, or an object of them by key.')
  }
  if (Array.isArray(config_schema)) assertEntries(config_schema)
  const shown = readConfigSchema(config_schema).find(({ secret, site }) => secret && site)
  if (shown) throw complain('A field cannot be secret and sent to web pages at once.')
}

function assertEntries(entries: readonly unknown[]): void {
  const keys = new Set<unknown>()
  for (const entry of entries) {
    if (!isObject(entry)) throw complain('Each field is an object.')
    if (entry.key === undefined || entry.key === null) continue
    if (keys.has(entry.key)) throw complain('Two fields have the same key.')
    keys.add(entry.key)
  }
}

function entriesOf(config_schema: unknown): JsonObject[] {
  if (Array.isArray(config_schema)) return config_schema.filter(isObject)
  if (!isObject(config_schema)) return []
  return Object.entries(config_schema).flatMap(([key, entry]) => (isObject(entry) ? [{ ...entry, key }] : []))
}

function readField(key: string, entry: JsonObject): SchemaField {
  return {
    key,
    type: OTHER_TYPES.includes(entry.type) ? (entry.type as FieldType) : 'string',
    choices: Array.isArray(entry.choices) ? entry.choices : [],
    default: entry.default ?? undefined,
    required: Boolean(entry.required),
    secret: Boolean(entry.secret),
    site: Boolean(entry.site),
    required_if: readConditions(entry.required_if),
    visible_if: readConditions(entry.visible_if),
  }
}

/** Pairs of a key and a value; a key alone asks for any value. */
function readConditions(given: unknown): Condition[] {
  if (!Array.isArray(given)) return []
  return (given as unknown[]).flatMap((pair) => {
    const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : []
    return typeof key === 'string' ? [{ key, value: value ?? undefined }] : []
  })
}

const complain = (detail: string) => invalid(ATTR, 'invalid_input', detail)
