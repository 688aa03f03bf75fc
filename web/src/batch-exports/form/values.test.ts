import { describe, expect, it } from 'vitest'
import type { Destination } from '../queries.ts'
import { askedFor } from './fields.ts'
import { bodyOf, changesOf, configOf, configValues, newValues, valuesOf, type Values } from './values.ts'

const part = (title: string, at: string) => ({ title, description: `${title}.`, 'x-part': at })
const rule = (when: Record<string, unknown[]>, properties: object, required: string[] = []) => ({
  if: {
    properties: Object.fromEntries(Object.entries(when).map(([name, values]) => [name, { enum: values }])),
  },
  // As JSON Schema calls it.
  ['then' as const]: { properties, required },
})
const KIND = {
  type: 'Box',
  takes_custom_columns: true,
  config: {
    required: ['bucket'],
    properties: {
      bucket: { type: 'string', ...part('Bucket', 'connection') },
      key: { type: ['string', 'null'], writeOnly: true, default: null, ...part('Key', 'connection') },
      port: { type: 'integer', default: 5432, ...part('Port', 'connection') },
      format: { type: 'string', enum: ['Lines', 'CSV'], default: 'Lines', ...part('Format', 'layout') },
      header: { type: 'boolean', default: true, ...part('Header', 'layout') },
      compression: {
        type: ['string', 'null'],
        enum: ['gzip', 'zstd', null],
        default: null,
        ...part('Compression', 'layout'),
      },
      level: { type: ['integer', 'null'], default: null, ...part('Level', 'layout') },
      include_events: { type: ['array', 'null'], default: null, ...part('Events', 'rows') },
    },
    allOf: [
      rule({ format: ['Lines'] }, { header: { const: true }, compression: { enum: [null, 'gzip'] } }),
      rule({ compression: [null] }, { level: { const: null } }),
      rule({ compression: ['gzip'] }, { level: { minimum: 1, maximum: 9 } }),
      rule({ format: ['CSV'] }, { key: { type: 'string' } }, ['key']),
    ],
  },
} as unknown as Destination

const values = (fields: Partial<Values> = {}): Values =>
  ({ ...newValues('UTC'), ...configValues(KIND), type: 'Box', bucket: 'b', ...fields }) as Values
const shown = (config: object) => askedFor(KIND.config, config as never).fields.map(({ name }) => name)

describe('fields', () => {
  it('are asked for where there is a choice, as other values have it', () => {
    expect(shown({})).toEqual(['bucket', 'key', 'port', 'format', 'compression', 'include_events'])
    expect(shown({ format: 'CSV', compression: 'gzip' })).toContain('header')
    expect(shown({ compression: 'gzip' })).toContain('level')
  })

  it('are narrowed and demanded as other values have it', () => {
    const find = (config: object, name: string) =>
      askedFor(KIND.config, config as never).fields.find((field) => field.name === name)!
    expect(find({}, 'compression').choices).toEqual(['gzip'])
    expect(find({ format: 'CSV' }, 'compression').choices).toEqual(['gzip', 'zstd'])
    expect(find({ compression: 'gzip' }, 'level')).toMatchObject({ min: 1, max: 9 })
    expect(find({}, 'key').isRequired).toBe(false)
    expect(find({ format: 'CSV' }, 'key').isRequired).toBe(true)
    expect(find({}, 'bucket').isRequired).toBe(true)
    expect([find({}, 'format').isDecisive, find({}, 'compression').isDecisive]).toEqual([true, false])
  })
})

it('descriptions speak of empty fields, not of null', () => {
  const schema = { properties: { a: { type: ['string', 'null'], description: 'Null: none.' } } }
  expect(askedFor(schema, {}).fields[0]!.description).toBe('Empty: none.')
})

describe('bodies', () => {
  it('hold what was typed, nulls for what was left empty, and no empty secret', () => {
    expect(configOf(values(), KIND)).toEqual({
      bucket: 'b',
      port: 5432,
      format: 'Lines',
      header: true,
      compression: null,
      level: null,
      include_events: null,
    })
    expect(configOf(values({ key: 's', include_events: ['a'], port: '7' }), KIND)).toMatchObject({
      key: 's',
      include_events: ['a'],
      port: 7,
    })
  })

  it('hold nothing that other values rule out', () => {
    expect(configOf(values({ compression: '', level: 4 }), KIND)).toMatchObject({
      compression: null,
      level: null,
    })
    expect(configOf(values({ format: 'Lines', header: false }), KIND)).toMatchObject({ header: true })
  })

  it('say when only as far as the interval has it', () => {
    const fields = {
      offset_hour: '3',
      offset_day: '1',
      timezone: 'Europe/Berlin',
      start_at: '2026-07-01T00:00',
    }
    expect(bodyOf(values({ ...fields, interval: 'hour' }), KIND)).toMatchObject({
      offset_hour: null,
      offset_day: null,
    })
    expect(bodyOf(values({ ...fields, interval: 'week' }), KIND)).toMatchObject({
      offset_hour: 3,
      offset_day: 1,
      start_at: '2026-06-30T22:00:00.000Z',
      end_at: null,
    })
  })

  it('leave own columns, filters and named events out where they mean nothing', () => {
    const fields = {
      hogql_query: 'SELECT event FROM events',
      filters: [{ type: 'event', key: 'plan', operator: 'exact', value: ['a', 'b'] }],
      include_events: ['seen'],
    } as Partial<Values>
    expect(bodyOf(values(fields), KIND)).toMatchObject({
      hogql_query: 'SELECT event FROM events',
      filters: [{ type: 'event', key: 'plan', operator: 'exact', value: ['a', 'b'] }],
    })
    expect(bodyOf(values({ ...fields, model: 'persons' }), KIND)).toMatchObject({
      hogql_query: null,
      filters: null,
      destination: { config: { include_events: null, bucket: 'b' } },
    })
  })
})

describe('changes', () => {
  const data = {
    name: 'Lake',
    destination: {
      type: 'Box',
      config: { bucket: 'b', port: 5432, format: 'CSV', header: false, compression: null },
    },
    model: 'events',
    interval: 'hour',
    timezone: 'UTC',
    offset_day: null,
    offset_hour: null,
    hogql_query: null,
    filters: null,
    start_at: null,
    end_at: null,
  } as never
  const stored = valuesOf(data, KIND)

  it('are nothing when nothing was changed', () => {
    expect(changesOf(stored, stored, KIND)).toEqual({})
  })

  it('are what differs, secrets only when typed', () => {
    expect(changesOf({ ...stored, name: 'Sea', key: 'new' } as Values, stored, KIND)).toEqual({
      name: 'Sea',
      destination: { config: { key: 'new' } },
    })
  })

  it('take back what a change rules out', () => {
    expect(changesOf({ ...stored, format: 'Lines' } as Values, stored, KIND)).toEqual({
      destination: { config: { format: 'Lines', header: true } },
    })
  })
})
