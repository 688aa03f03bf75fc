import { expect, it } from 'vitest'
import { configValues, newValues, type Values } from '../form/values.ts'
import type { Destination } from '../queries.ts'
import { chosenIn, connectionOf, faultsOf, lacks, stepOf } from './steps.ts'

const KIND = {
  name: 'S3',
  type: 'S3',
  takes_custom_columns: true,
  config: {
    required: ['bucket_name', 'key'],
    properties: {
      bucket_name: { type: 'string', 'x-part': 'connection' },
      key: { type: 'string', writeOnly: true, 'x-part': 'connection' },
      file_format: {
        type: 'string',
        enum: ['JSONLines', 'Parquet'],
        default: 'JSONLines',
        'x-part': 'layout',
      },
      include_events: { type: ['array', 'null'], default: null, 'x-part': 'rows' },
    },
  },
} as unknown as Destination
const values = {
  ...newValues('UTC'),
  ...configValues(KIND),
  bucket_name: 'lake',
  include_events: ['a'],
  interval: 'day',
  offset_hour: '3',
} as unknown as Values

it('a refused field is looked for in its step', () => {
  expect(
    ['bucket_name', 'file_format', 'include_events', 'filters', 'timezone', 'name'].map((name) =>
      stepOf(name, KIND),
    ),
  ).toEqual(['connection', 'layout', 'rows', 'rows', 'schedule', 'create'])
  expect(stepOf('nothing', KIND)).toBeUndefined()
  expect(stepOf('destination__config__file_format', KIND)).toBe('layout')
  expect(stepOf('destination__type', KIND)).toBe('destination')
  expect(stepOf('destination', KIND)).toBe('connection')
})

it('what a preview finds wrong belongs to the step of its field, or to that of its part', () => {
  const fault = (attr: string | null) => ({ code: 'invalid_input', detail: String(attr), attr })
  const errors = { columns: fault('destination__bucket_name'), rows: fault(null), files: fault('prefix') }
  expect(faultsOf(errors, KIND)).toEqual({
    connection: 'destination__bucket_name',
    rows: 'null',
    layout: 'prefix',
  })
})

it('a tested connection is another one when its own fields change, and only then', () => {
  const tested = connectionOf(values, KIND)
  expect(connectionOf({ ...values, file_format: 'Parquet' } as Values, KIND)).toBe(tested)
  expect(connectionOf({ ...values, bucket_name: 'sea' } as Values, KIND)).not.toBe(tested)
})

it('each step says what was chosen', () => {
  expect(chosenIn('connection', values, KIND)).toBe('lake')
  const { prefix } = { prefix: { type: 'string', 'x-part': 'layout' } }
  const folder = { ...KIND, config: { properties: { prefix } } } as unknown as Destination
  expect(chosenIn('connection', values, folder)).toBe('none needed')
  expect(chosenIn('rows', values, KIND)).toBe('Events, filtered')
  const without = { ...values, include_events: [], exclude_events: ['$autocapture', 'b'] } as Values
  expect(chosenIn('rows', without, KIND)).toBe('Events, without $autocapture, b')
  expect(chosenIn('rows', { ...without, model: 'persons' } as Values, KIND)).toBe('Persons')
  expect(chosenIn('layout', values, KIND)).toBe('JSONLines')
  expect(chosenIn('schedule', values, KIND)).toBe('Every day at 03:00, UTC')
  expect(chosenIn('create', values, KIND)).toBeNull()
  expect(chosenIn('rows', values, undefined)).toBeNull()
})

it('a step is not done while a required field of it is empty', () => {
  const steps = ['connection', 'layout', 'schedule'] as const
  const lacking = (given: Values) => steps.filter((step) => lacks(step, given, KIND))
  expect(lacking(values)).toEqual(['connection'])
  expect(lacking({ ...values, key: 's' } as Values)).toEqual([])
  expect(lacking({ ...values, key: 's', bucket_name: '' } as Values)).toEqual(['connection'])
  const filter = { type: 'event', key: '', operator: 'exact', value: [] } as const
  expect(lacks('rows', { ...values, filters: [filter] }, KIND)).toBe(true)
  expect(lacks('rows', { ...values, filters: [filter], model: 'persons' }, KIND)).toBe(false)
})
