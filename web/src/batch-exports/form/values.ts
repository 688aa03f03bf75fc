// What a form about an export holds, flat so that a refusal finds its field by name; and the bodies made of it. Pure.
import type { Destination, Export } from '../queries'
import { instantOf, localText } from '../zone'
import { askedFor, namesOfFields, type Config, type Field } from './fields'
import { filterBody, filterOf, type Filter } from './filters'

export type Values = Readonly<Record<string, unknown>> & {
  name: string
  type: string
  model: Export['model']
  hogql_query: string
  filters: readonly Filter[]
  interval: Export['interval']
  timezone: string
  offset_day: string
  offset_hour: string
  start_at: string
  end_at: string
}

export function newValues(timezone: string): Values {
  return {
    name: '',
    type: '',
    model: 'events',
    hogql_query: '',
    filters: [],
    interval: 'hour',
    timezone,
    offset_day: '0',
    offset_hour: '0',
    start_at: '',
    end_at: '',
    backfill: false,
  }
}

/** The values of a stored export: its secrets are empty, which leaves them as they are. */
export function valuesOf(data: Export, kind: Destination): Values {
  return {
    ...configValues(kind, data.destination.config),
    name: data.name,
    type: data.destination.type,
    model: data.model,
    hogql_query: data.hogql_query ?? '',
    filters: (data.filters ?? []).map(filterOf),
    interval: data.interval,
    timezone: data.timezone,
    offset_day: String(data.offset_day ?? 0),
    offset_hour: String(data.offset_hour ?? 0),
    start_at: data.start_at === null ? '' : localText(data.start_at, data.timezone),
    end_at: data.end_at === null ? '' : localText(data.end_at, data.timezone),
  }
}

/** The form's values for a configuration, or for an empty one. */
export function configValues({ config: schema }: Destination, config: Config = {}): Record<string, unknown> {
  // Conditions hide fields, but what they hold must not be lost while somebody looks around.
  const { fields } = askedFor({ ...schema, allOf: [] }, config)
  const values = Object.fromEntries(fields.map((field) => [field.name, valueOf(field, config[field.name])]))
  return { ...Object.fromEntries(namesOfFields(schema).map((name) => [name, ''])), ...values }
}

function valueOf({ kind, default: standard }: Field, stored: unknown): unknown {
  const value = stored === undefined ? standard : stored
  if (kind === 'flag') return value === true
  if (kind === 'names') return Array.isArray(value) ? value : []
  if (kind === 'secret') return ''
  return kind === 'number' && typeof value === 'number' ? value : textOf(value)
}

/** What the API takes; undefined is left out. */
function toApi({ kind, isNullable }: Field, value: unknown): unknown {
  if (kind === 'flag') return value === true
  if (kind === 'names') return Array.isArray(value) && value.length > 0 ? value : null
  if (value === '' || value === undefined || value === null)
    return kind === 'secret' || !isNullable ? undefined : null
  return kind === 'number' ? Number(value) : value
}

/** The configuration as the API takes it, with what other values leave no choice about. */
export function configOf(values: Values, { config: schema }: Destination): Record<string, unknown> {
  // Which rows go out can be chosen of events alone: what was chosen before the model stays typed, and is not sent.
  const valueOf = (field: Field) =>
    field.part === 'rows' && values.model !== 'events' ? field.default : toApi(field, values[field.name])
  const all = askedFor({ ...schema, allOf: [] }, {}).fields.map(
    (field) => [field.name, valueOf(field)] as const,
  )
  const { fields, fixed } = askedFor(schema, Object.fromEntries(all))
  const shown = new Set(fields.map(({ name }) => name))
  return {
    ...Object.fromEntries(all.filter(([name, value]) => shown.has(name) && value !== undefined)),
    ...fixed,
  }
}

/** Fields as they are to be asked for, given what else is typed. */
export const fieldsFor = (values: Values, kind: Destination): Field[] =>
  askedFor(kind.config, configOf(values, kind)).fields

export function bodyOf(values: Values, kind: Destination) {
  const isEvents = values.model === 'events'
  const isDaily = values.interval === 'day' || values.interval === 'week'
  return {
    name: values.name,
    destination: { type: values.type, config: configOf(values, kind) },
    model: values.model,
    hogql_query:
      isEvents && kind.takes_custom_columns && values.hogql_query.trim() !== '' ? values.hogql_query : null,
    filters: isEvents && values.filters.length > 0 ? values.filters.map(filterBody) : null,
    interval: values.interval,
    timezone: values.timezone,
    offset_hour: isDaily ? Number(values.offset_hour) : null,
    offset_day: values.interval === 'week' ? Number(values.offset_day) : null,
    start_at: instantOf(values.start_at, values.timezone),
    end_at: instantOf(values.end_at, values.timezone),
  }
}

/** Only what differs from what is stored: others may have changed the rest meanwhile. */
export function changesOf(values: Values, stored: Values, kind: Destination): Record<string, unknown> {
  const [now, before] = [bodyOf(values, kind), bodyOf(stored, kind)]
  const { destination, ...rest } = differing(now, before)
  const config = differing(now.destination.config, before.destination.config)
  return {
    ...rest,
    ...(destination !== undefined && Object.keys(config).length > 0 ? { destination: { config } } : {}),
  }
}

function differing(now: Record<string, unknown>, before: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}

/** As a text field shows it. */
export function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
}
