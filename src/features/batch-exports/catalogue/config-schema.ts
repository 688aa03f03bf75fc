// A kind's configuration as JSON Schema, for forms: from the schema that checks it, what the kind says of secrets, its
// example and its conditions.
import { z } from 'zod'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Condition } from '../destinations/described.ts'
import type { DestinationKind } from '../destinations/destination.ts'

type Property = JsonObject & { default?: unknown }

export function configSchema({ config, secrets, example, conditions = [] }: DestinationKind): JsonObject {
  const {
    properties,
    required = [],
    ...whole
  } = z.toJSONSchema(config, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema._zod.def, jsonSchema),
  }) as JsonObject & { properties: Record<string, Property>; required?: string[] }
  const shown = Object.entries(properties).map(([name, property]) => {
    // What it would hold is cut short, or a placeholder.
    const isSecret = secrets.includes(name)
    const of_secret = isSecret ? { writeOnly: true } : {}
    const examples = isSecret || example[name] === undefined ? {} : { examples: [example[name]] }
    return [name, { ...property, ...of_secret, ...examples }] as const
  })
  const rules = conditions.map((condition) => ruleOf(condition, properties))
  return {
    ...whole,
    properties: Object.fromEntries(shown),
    required,
    ...(rules.length === 0 ? {} : { allOf: rules }),
  }
}

/** Defaults behind a coercion are lost on the way, and null beside one type is said shorter. */
function tidy(def: z.core.$ZodTypes['_zod']['def'], schema: JsonObject): void {
  if (def.type === 'default') schema.default = def.defaultValue
  if (def.type === 'nullable' || def.type === 'default') joinNull(schema)
  if (schema.minimum === -(2 ** 31)) delete schema.minimum
  if (schema.maximum === 2 ** 31 - 1) delete schema.maximum
}

/** `{anyOf: [{type: 'string', …}, {type: 'null'}]}` becomes `{type: ['string', 'null'], …}`. */
function joinNull(schema: JsonObject): void {
  const [one, none, ...others] = Array.isArray(schema.anyOf) ? (schema.anyOf as JsonObject[]) : []
  if (!one || none?.type !== 'null' || typeof one.type !== 'string' || others.length > 0) return
  delete schema.anyOf
  Object.assign(schema, one, { type: [one.type, 'null'] })
  if (Array.isArray(one.enum)) schema.enum = [...(one.enum as unknown[]), null]
}

/** A field that is left out has its default: where that is among the values, the field need not be there. */
function ruleOf({ when, holds, needs = [] }: Condition, properties: Record<string, Property>): JsonObject {
  const fields = Object.entries(when)
  const named = fields.filter(
    ([name, values]) => !values.some((value) => value === properties[name]?.default),
  )
  const condition = {
    properties: Object.fromEntries(fields.map(([name, values]) => [name, { enum: values }])),
    ...(named.length === 0 ? {} : { required: named.map(([name]) => name) }),
  }
  const consequence = { properties: holds, ...(needs.length === 0 ? {} : { required: needs }) }
  // `then` is a word of JSON Schema; it holds no function, so nobody waits for it.
  // oxlint-disable-next-line unicorn/no-thenable
  return { if: condition, then: consequence }
}
