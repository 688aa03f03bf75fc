import { expect, it } from 'vitest'
import { detectPropertyType } from './property-type.ts'

const NOW = new Date('2026-06-01T00:00:00Z')

it.each<[string, unknown, string | null]>([
  ['price', 9.5, 'Numeric'],
  ['price', '9.5', 'String'],
  ['paid', true, 'Boolean'],
  ['paid', ' TRUE ', 'Boolean'],
  ['paid', 'True', 'String'],
  ['plan', 'pro', 'String'],
  ['plan', '', 'String'],
  ['day', '2024-06-01', 'DateTime'],
  ['day', '01/06/2024', 'DateTime'],
  ['day', '2024-06-01T10:00:00.123Z', 'DateTime'],
  ['day', '2024-06-01 and later', 'String'],
  ['day', `2024-06-01 10:00:00${' '.repeat(100_000)}`, 'String'],
  ['created_at', 1_780_000_000, 'DateTime'],
  ['created_at', 1_780_000_000_000, 'DateTime'],
  ['created_at', 12, 'Numeric'],
  ['created_at', 1_780_000_000.5, 'Numeric'],
  ['number', 1_780_000_000, 'Numeric'],
  ['utm_campaign', 2024, 'String'],
  ['UTM_Source', true, 'String'],
  ['$feature/new-shop', true, 'String'],
  ['$feature_flag_response', false, 'String'],
  ['$survey_response_2', 5, 'String'],
  ['list', [1], null],
  ['object', {}, null],
  ['nothing', null, null],
])('%s: %o is %s', (name, value, type) => {
  expect(detectPropertyType(name, value, NOW)).toBe(type)
})
