// The steps of a new export: which of them asks for what, what was chosen in each, and what is wrong with it. Pure.
import { askedFor } from '../form/fields'
import { isUnfinished } from '../form/filters'
import type { PreviewFault, PreviewPart } from '../form/preview'
import { bodyOf, fieldsFor, type Values } from '../form/values'
import type { Destination } from '../queries'
import type { Step } from '../search'
import { scheduleText } from '../states'

const STEP_OF_FIELD: Readonly<Record<string, Step>> = {
  type: 'destination',
  // What is refused as a whole: a host that does not resolve, or may not be called.
  destination: 'connection',
  name: 'create',
  backfill: 'create',
  model: 'rows',
  hogql_query: 'rows',
  filters: 'rows',
  interval: 'schedule',
  timezone: 'schedule',
  offset_day: 'schedule',
  offset_hour: 'schedule',
  start_at: 'schedule',
  end_at: 'schedule',
}

/** Where a field is asked for, by its name or as the API names it; undefined for what no step asks for. */
export function stepOf(attr: string, kind: Destination): Step | undefined {
  const { fields } = askedFor({ ...kind.config, allOf: [] }, {})
  const names = [attr, ...attr.split('__').toReversed()]
  return names
    .map((name) => STEP_OF_FIELD[name] ?? fields.find((field) => field.name === name)?.part)
    .find((step) => step !== undefined)
}

const STEP_OF_PART: Record<PreviewPart, Step> = {
  columns: 'rows',
  rows: 'rows',
  files: 'layout',
  ddl: 'layout',
  next_runs: 'schedule',
}

/** The steps that a preview has found something wrong in, with what it is. */
export function faultsOf(
  errors: Partial<Record<PreviewPart, PreviewFault>>,
  kind: Destination,
): Partial<Record<Step, string>> {
  const faults = Object.entries(errors) as [PreviewPart, PreviewFault][]
  return Object.fromEntries(
    faults.map(([part, { attr, detail }]) => [
      (attr === null ? undefined : stepOf(attr, kind)) ?? STEP_OF_PART[part],
      detail,
    ]),
  )
}

/** What a test of the connection was about: another step's fields change nothing about its result. */
export function connectionOf(values: Values, kind: Destination): string {
  const fields = fieldsFor(values, kind).filter(({ part }) => part === 'connection')
  return JSON.stringify([kind.type, ...fields.map(({ name }) => values[name])])
}

/** Whether a field that is required there is still empty. */
export function lacks(step: Step, values: Values, kind: Destination | undefined): boolean {
  if (!kind) return true
  if (step === 'rows' && values.model === 'events' && values.filters.some(isUnfinished)) return true
  return fieldsFor(values, kind).some(
    ({ part, isRequired, name }) => part === step && isRequired && (values[name] ?? '') === '',
  )
}

const MODEL_NAMES: Record<Values['model'], string> = {
  events: 'Events',
  persons: 'Persons',
  sessions: 'Sessions',
}

const namesIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** In a few words; null where nothing is chosen yet. */
export function chosenIn(step: Step, values: Values, kind: Destination | undefined): string | null {
  if (!kind) return null
  const texts = (names: readonly string[]) =>
    names.map((name) => values[name]).filter((value) => typeof value === 'string' && value !== '')
  switch (step) {
    case 'destination':
      return kind.name
    case 'connection':
      if (fieldsFor(values, kind).every(({ part }) => part !== 'connection')) return 'none needed'
      return (
        texts([
          'bucket_name',
          'host',
          'url',
          'account',
          'account_name',
          'project_id',
          'server_hostname',
        ]).join(', ') || null
      )
    case 'rows': {
      if (values.model !== 'events') return MODEL_NAMES[values.model]
      const excluded = namesIn(values.exclude_events)
      return [
        MODEL_NAMES[values.model],
        values.filters.length + namesIn(values.include_events).length > 0 ? 'filtered' : null,
        excluded.length === 0 ? null : `without ${excluded.join(', ')}`,
        values.hogql_query.trim() === '' ? null : 'own columns',
      ]
        .filter(Boolean)
        .join(', ')
    }
    case 'layout':
      return (
        texts([
          'file_format',
          'compression',
          'prefix',
          'schema',
          'table_name',
          'table_id',
          'dataset_id',
        ]).join(', ') || null
      )
    case 'schedule':
      return scheduleText(bodyOf(values, kind))
    case 'create':
      return values.name || null
  }
}
