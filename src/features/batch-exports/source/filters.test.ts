// What may be saved as filters of an export, and what is told about the rest.
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../platform/http/errors.ts'
import { readFilters } from './filters.ts'

function faultOf(filters: unknown): ApiError {
  try {
    readFilters(filters, 'duckdb')
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const filter = { key: 'plan', value: 'pro', operator: 'exact', type: 'event' }

it('gives them back as sent', () => {
  const filters = [filter, { key: "event = 'a'", type: 'hogql', label: 'mine' }]
  expect(readFilters(filters, 'duckdb')).toEqual(filters)
  expect(readFilters([], 'duckdb')).toEqual([])
  expect(readFilters(null, 'duckdb')).toBeNull()
  expect(readFilters(undefined, 'duckdb')).toBeNull()
})

describe('refuses', () => {
  it.each<[string, unknown, string]>([
    ['an object', {}, 'Filters are a list.'],
    ['a text', '[]', 'Filters are a list.'],
    ['a list of texts', ['a'], 'Each filter is an object.'],
    ['a list of lists', [[filter]], 'Each filter is an object.'],
    ['null in the list', [null], 'Each filter is an object.'],
    ['an unknown type', [{ ...filter, type: 'cohort' }], 'The type of a filter is event, person or hogql.'],
    ['null as type', [{ ...filter, type: null }], 'The type of a filter is event, person or hogql.'],
    ['a group', [{ type: 'AND', values: [filter] }], 'The type of a filter is event, person or hogql.'],
    ['an interval start', [{ ...filter, data_interval_start: 1 }], 'A filter has no data_interval_start'],
    ['an interval end', [{ ...filter, data_interval_end: null }], 'A filter has no data_interval_end'],
    ['no key', [{ value: 1 }], 'A filter has no key.'],
    ['no value', [{ key: 'a' }], 'A filter has no value.'],
    ['an unknown operator', [{ ...filter, operator: 'like' }], 'The operator "like" does not exist here.'],
    ['no date', [{ key: 'a', operator: 'is_date_before', value: 'x' }], 'The value must be a date'],
    [
      "a person's distinct id",
      [{ ...filter, type: 'person', key: 'distinct_id' }],
      'Persons are filtered by',
    ],
    ['a condition that is no text', [{ key: 5, type: 'hogql' }], 'has its condition as key'],
    ['too many', Array.from({ length: 101 }, () => filter), 'At most 100 filters'],
  ])('%s', (_what, filters, message) => {
    const fault = faultOf(filters)
    expect(fault).toMatchObject({ status: 400, attr: 'filters', code: 'invalid_input' })
    expect(fault.message).toContain(message)
  })

  it.each<[string, string, string]>([
    ['event = ', 'hogql_syntax_error', ''],
    ["evnt = 'a'", 'hogql_query_error', "Unknown field 'evnt' (at character 1). Did you mean 'event'?"],
    ['person.id is null', 'hogql_query_error', "Unknown field 'person.id'"],
    ['count() > 1', 'hogql_query_error', "The aggregate 'count' cannot stand here"],
    ['event in (select event from events)', 'hogql_query_error', 'A subquery cannot stand here'],
    ['uuid in events', 'hogql_query_error', "Unknown field 'events'"],
    ['row_number() over () = 1', 'hogql_query_error', 'A window function cannot stand here'],
    ["arrayJoin(['a']) = event", 'hogql_query_error', "'arrayJoin' would make several rows of one"],
    ['rand() > 5', 'hogql_query_error', "'rand' gives something else every time"],
    ['{x} = 1', 'hogql_query_error', 'A placeholder cannot stand here'],
  ])('the condition %s', (key, code, message) => {
    const fault = faultOf([{ key, type: 'hogql' }])
    expect(fault).toMatchObject({ status: 400, attr: 'filters', code })
    expect(fault.message).toContain(message)
  })
})
