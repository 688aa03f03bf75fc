import { expect, it } from 'vitest'
import { foundText } from './found'

it.each([
  ['published', ['a'], /is there/],
  ['unknown', [], /did not answer/],
  ['absent', [], /no such record yet/],
  ['absent', ['a'], /another value/],
  ['absent', ['a', 'b'], /other values/],
] as const)('%s with %j', (finding, values, said) => {
  expect(foundText({ finding, values })).toMatch(said)
})
