// What a config may be. No I/O.
import type { JsonObject } from '../../../lib/json-object.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { INLINE_APPS } from '../inline/index.ts'
import { SettingFault } from '../inline/settings.ts'
import type { OnFailure, PluginConfigRow, PluginRow } from '../rows.ts'
import type { Condition, SchemaField } from '../config-schema.ts'
import { hasValue, valueOrDefault, type ConfigParts } from './settings.ts'

const MAX_CONFIGS = 100
/** Every app that is switched on has its settings in memory. */
const MAX_SETTINGS_BYTES = 1024 * 1024

/** An app that takes something away is a guard: what it could not look at waits for it. */
export function ruleOf(
  { on_failure, has_removed }: Pick<PluginConfigRow, 'on_failure' | 'has_removed'>,
  { removes }: Pick<PluginRow, 'removes'>,
): OnFailure {
  return on_failure ?? (removes || has_removed ? 'hold' : 'pass')
}

export function assertRoom(count: number): void {
  if (count < MAX_CONFIGS) return
  throw invalid(null, 'invalid_input', `A project can have ${MAX_CONFIGS} plugin configs at most.`)
}

/** 400 for settings that are too large, or that one of the server's own apps could not be opened with. */
export function assertReadable(
  { plugin_type, url }: Pick<PluginRow, 'plugin_type' | 'url'>,
  { config, secrets }: ConfigParts,
): void {
  if (Buffer.byteLength(JSON.stringify({ config, secrets })) > MAX_SETTINGS_BYTES)
    throw invalid('config', 'max_length', 'The settings of a config can have 1 MB together at most.')
  if (plugin_type !== 'inline') return
  try {
    INLINE_APPS.get(url ?? '')?.open(config)
  } catch (fault) {
    if (!(fault instanceof SettingFault)) throw fault
    throw invalid(`config__${fault.key}`, 'max_length', fault.message)
  }
}

/**
 * What is switched on must have what its app asks for. Of attachments the keys are enough.
 * Fields that are not to be seen, by their own conditions, are not asked for.
 */
export function assertComplete(
  fields: readonly SchemaField[],
  { config, secrets }: ConfigParts,
  attached: ReadonlySet<string>,
): void {
  const whole = { ...config, ...secrets }
  const values = new Map<string, unknown>()
  for (const field of fields) values.set(field.key, givenValue(field, whole, attached))
  const holds = ({ key, value }: Condition) => isMet(value, values.get(key))
  for (const field of fields.filter(({ visible_if }) => visible_if.every(holds))) {
    const value = values.get(field.key)
    const isRequired = field.required || (field.required_if.length > 0 && field.required_if.every(holds))
    const attr = `config__${field.key}`
    if (isRequired && !hasValue(value)) throw invalid(attr, 'required', 'The app needs this setting.')
    if (!isChoosable(field, value)) {
      throw invalid(attr, 'invalid_choice', 'This is not one of the values that the app offers.')
    }
  }
}

function givenValue(field: SchemaField, config: JsonObject, attached: ReadonlySet<string>): unknown {
  const { key, type } = field
  if (type === 'attachment') return attached.has(key) ? true : undefined
  return valueOrDefault(field, Object.hasOwn(config, key) ? config[key] : undefined)
}

function isMet(wanted: unknown, value: unknown): boolean {
  return hasValue(value) && (wanted === undefined || asText(value) === asText(wanted))
}

/** Some send `5` and some `"5"`. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isChoosable({ type, choices }: SchemaField, value: unknown): boolean {
  return type !== 'choice' || choices.length === 0 || !hasValue(value) || choices.includes(value)
}
