// The settings that an app asks for, `config_schema`, as a form: which fields, what stands in them, and what is sent.
// src/features/plugins/config-schema.ts reads the same on the server.

/** Shown by the API in place of a stored secret; part of its contract. */
export const SECRET_MASK = '**************** POSTHOG SECRET FIELD ****************'

export type SettingType = 'string' | 'attachment' | 'choice' | 'json'

export type Setting = {
  key: string
  /** The name of the field in the form, which is what the API calls it in a refusal. */
  name: string
  label: string
  type: SettingType
  choices: readonly unknown[]
  default: unknown
  hint: string
  isRequired: boolean
  isSecret: boolean
  isSite: boolean
  visibleIf: readonly Condition[]
  requiredIf: readonly Condition[]
}
export type Note = { note: string }
type Condition = { key: string; value: unknown }

export type StoredFile = { name: string; size: number; isSecret: boolean }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Some write `5` and some `"5"`. */
export const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

export function readSettings(schema: unknown): (Setting | Note)[] {
  const entries: Record<string, unknown>[] = Array.isArray(schema)
    ? schema.filter(isObject)
    : isObject(schema)
      ? Object.entries(schema).flatMap(([key, entry]) => (isObject(entry) ? [{ ...entry, key }] : []))
      : []
  const seen = new Set<string>()
  return entries.flatMap((entry): (Setting | Note)[] => {
    const key = textOf(entry.key)
    const note = textOf(entry.markdown)
    if (key === '') return note === '' ? [] : [{ note }]
    if (seen.has(key)) return []
    seen.add(key)
    return [...(note === '' ? [] : [{ note }]), readSetting(key, entry)]
  })
}

function readSetting(key: string, entry: Record<string, unknown>): Setting {
  const type = (['attachment', 'choice', 'json'] as const).find((each) => each === entry.type) ?? 'string'
  return {
    key,
    name: `config__${key}`,
    label: textOf(entry.name) || key,
    type,
    choices: Array.isArray(entry.choices) ? entry.choices : [],
    default: entry.default ?? undefined,
    hint: textOf(entry.hint),
    isRequired: Boolean(entry.required),
    isSecret: Boolean(entry.secret),
    isSite: Boolean(entry.site),
    visibleIf: readConditions(entry.visible_if),
    requiredIf: readConditions(entry.required_if),
  }
}

function readConditions(given: unknown): Condition[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((pair: unknown) => {
    const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : []
    return typeof key === 'string' ? [{ key, value: value ?? undefined }] : []
  })
}

export type FormValues = Record<string, unknown>

/** What stands in the fields at first: what is stored, else the default. Of a stored secret, nothing. */
export function initialValues(
  settings: readonly (Setting | Note)[],
  config: Record<string, unknown>,
): FormValues {
  const values: FormValues = {}
  for (const setting of settings) {
    if ('note' in setting) continue
    const stored = config[setting.key]
    if (setting.type === 'attachment') values[setting.name] = null
    else if (isStoredSecret(setting, config)) values[setting.name] = null
    else values[setting.name] = shownValue(setting, stored ?? setting.default)
  }
  return values
}

function shownValue({ type }: Setting, value: unknown): string {
  if (value === undefined || value === null) return ''
  return type === 'json' && typeof value !== 'string' ? JSON.stringify(value, null, 2) : written(value)
}

export const isStoredSecret = ({ key, isSecret }: Setting, config: Record<string, unknown>): boolean =>
  isSecret && config[key] === SECRET_MASK

export function storedFile({ key, type }: Setting, config: Record<string, unknown>): StoredFile | null {
  const stored = config[key]
  if (type !== 'attachment' || !isObject(stored)) return null
  const name = textOf(stored.name)
  return { name: name === SECRET_MASK ? '' : name, size: Number(stored.size), isSecret: name === SECRET_MASK }
}

export type SettingsBody = {
  config: Record<string, unknown>
  added: readonly { key: string; file: File }[]
  removed: readonly string[]
}

/** A file that is to be taken away. */
export const REMOVED = Symbol('removed')

/** The settings as they are sent; throws WrongJson for a field that holds none. */
export function settingsBody(
  settings: readonly (Setting | Note)[],
  values: FormValues,
  stored: Record<string, unknown>,
): SettingsBody {
  const fields = settings.filter((setting): setting is Setting => !('note' in setting))
  const known = new Set(fields.map(({ key }) => key))
  const config: Record<string, unknown> = Object.fromEntries(
    Object.entries(stored).filter(([key]) => !known.has(key)),
  )
  const added: { key: string; file: File }[] = []
  const removed: string[] = []
  for (const field of fields) {
    const value = values[field.name]
    if (field.type === 'attachment') {
      if (value === REMOVED) removed.push(field.key)
      else if (value !== null && value !== undefined) added.push({ key: field.key, file: value as File })
    } else if (value !== null) config[field.key] = sentValue(field, typeof value === 'string' ? value : '')
  }
  return { config, added, removed }
}

export class WrongJson extends Error {
  constructor(readonly field: string) {
    super('This is not JSON.')
  }
}

function sentValue({ type, name, choices }: Setting, text: string): unknown {
  // A choice may be a number, and is sent as the app wrote it.
  if (type === 'choice') return choices.find((choice) => written(choice) === text) ?? text
  if (type !== 'json') return text
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongJson(name)
  }
}

/** As the server reads them: another field has this value, or any. */
export function holds(
  conditions: readonly Condition[],
  settings: readonly (Setting | Note)[],
  values: FormValues,
): boolean {
  return conditions.every(({ key, value }) => {
    const field = settings.find((setting): setting is Setting => !('note' in setting) && setting.key === key)
    const now = field === undefined ? undefined : values[field.name]
    // Null is a secret that stays as it is stored.
    const hasValue =
      (now !== undefined && now !== null && now !== '') || (now === null && field?.isSecret === true)
    return hasValue && (value === undefined || written(now) === written(value))
  })
}
