import { expect, it } from 'vitest'
import { cellText, isWebAddress, sortedNames, valueText } from './property-text.ts'

it('names that people chose come first', () => {
  expect(sortedNames({ $os: 1, plan: 1, $browser: 1, amount: 1 })).toEqual([
    'amount',
    'plan',
    '$browser',
    '$os',
  ])
})

it.each([
  ['text', 'text'],
  [5, '5'],
  [false, 'false'],
  [null, 'null'],
  [undefined, ''],
  [{ a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
])('%j is written as %j', (value, text) => expect(valueText(value)).toBe(text))

it('cells have one line', () => expect(cellText({ a: [1] })).toBe('{"a":[1]}'))

it.each([
  ['https://example.com/a?b=c', true],
  ['http://example.com', true],
  ['HTTPS://example.com', true],
  ['javascript:alert(1)', false],
  [' https://example.com', false],
  ['data:text/html,x', false],
  ['//example.com', false],
  ['https://', false],
  [5, false],
])('%j may be a link: %s', (value, isOne) => expect(isWebAddress(value)).toBe(isOne))
