// The fields of a form for a kind of destination, from its JSON Schema as the API gives it. Pure.

export type FieldKind = 'text' | 'secret' | 'number' | 'flag' | 'choice' | 'names'
export type FormPart = 'connection' | 'layout' | 'rows'

export type Field = {
  name: string
  title: string
  description: string
  part: FormPart
  kind: FieldKind
  isRequired: boolean
  isNullable: boolean
  /** Whether others are required depends on it. */
  isDecisive: boolean
  /** Keys of several lines. */
  isLong: boolean
  choices: readonly string[]
  default: unknown
  example: string | null
  min: number | undefined
  max: number | undefined
}

type Property = {
  title?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  writeOnly?: boolean
  'x-part'?: FormPart
}
type Rule = {
  if: { properties: Record<string, { enum: unknown[] }>; required?: string[] }
  then: { properties: Record<string, Property>; required?: string[] }
}
type ConfigSchema = { properties: Record<string, Property>; required?: string[]; allOf?: Rule[] }

export type Config = Readonly<Record<string, unknown>>
/** What a form asks for, and what other values leave no choice about. */
export type Asked = { fields: Field[]; fixed: Record<string, unknown> }

/** `config` is as the API takes it; left out means the default. */
export function askedFor(schema: Readonly<Record<string, unknown>>, config: Config): Asked {
  const { properties, required = [], allOf = [] } = schema as unknown as ConfigSchema
  const valueOf = (name: string) => config[name] ?? properties[name]?.default ?? null
  const holding = allOf.filter(({ if: when }) =>
    Object.entries(when.properties).every(([name, { enum: values }]) => values.includes(valueOf(name))),
  )
  const fields: Field[] = []
  const fixed: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const narrowed = holding.reduce<Property>(
      (all, { then }) => ({ ...all, ...then.properties[name] }),
      property,
    )
    const only = onlyValue(narrowed)
    const isRequired = required.includes(name) || holding.some(({ then }) => then.required?.includes(name))
    const isDecisive = allOf.some(
      ({ if: when, then }) => name in when.properties && (then.required ?? []).length > 0,
    )
    if (only === undefined) fields.push({ ...fieldOf(name, narrowed), isRequired, isDecisive })
    else fixed[name] = only.value
  }
  return { fields, fixed }
}

/** Where a value is the only one there can be, nobody need choose it. */
function onlyValue({ const: constant, enum: values }: Property): { value: unknown } | undefined {
  if (constant !== undefined) return { value: constant }
  const real = values?.filter((value) => value !== '')
  return real?.length === 1 ? { value: real[0] } : undefined
}

function fieldOf(name: string, property: Property): Omit<Field, 'isRequired' | 'isDecisive'> {
  const types = [property.type ?? 'string'].flat()
  const example = property.examples?.[0]
  return {
    name,
    title: property.title ?? name,
    description: inWordsOfForms(property.description ?? ''),
    part: property['x-part'] ?? 'connection',
    kind: kindOf(property, types),
    isNullable: types.includes('null'),
    isLong: name === 'private_key',
    choices: (property.enum ?? []).filter((value): value is string => typeof value === 'string'),
    default: property.default,
    example: typeof example === 'string' || typeof example === 'number' ? String(example) : null,
    min: property.minimum,
    max: property.maximum,
  }
}

/** What the API calls null is left empty in a form. */
function inWordsOfForms(text: string): string {
  return text.replace(/\bNull:/g, 'Empty:').replace(/; null for/g, '; empty for')
}

function kindOf({ writeOnly, enum: values }: Property, types: readonly string[]): FieldKind {
  if (writeOnly) return 'secret'
  if (values) return 'choice'
  if (types.includes('boolean')) return 'flag'
  if (types.includes('integer') || types.includes('number')) return 'number'
  return types.includes('array') ? 'names' : 'text'
}

export const namesOfSecrets = (schema: Readonly<Record<string, unknown>>): string[] =>
  Object.entries((schema as unknown as ConfigSchema).properties).flatMap(([name, { writeOnly }]) =>
    writeOnly ? [name] : [],
  )

export const namesOfFields = (schema: Readonly<Record<string, unknown>>): string[] =>
  Object.keys((schema as unknown as ConfigSchema).properties)
