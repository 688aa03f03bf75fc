import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExactly, stringifyExactly } from './exact-json.ts'

it.each([
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['18446744073709551615', 18446744073709551615n],
  ['[1,{"id":1234567890123456789}]', [1, { id: 1234567890123456789n }]],
  // What a double holds, and what has more than 64 bits, as always.
  ['9007199254740991', 9007199254740991],
  ['18446744073709551616', 2 ** 64],
  ['9007199254740993.0', 9007199254740992],
  ['9007199254740993e0', 9007199254740992],
  ['"9007199254740993"', '9007199254740993'],
  ['{"\\"9007199254740993":"a \\\\ 9007199254740993"}', { '"9007199254740993': 'a \\ 9007199254740993' }],
])('%s', (text, value) => {
  expect(parseExactly(text)).toEqual(value)
})

it.each(['', '9007199254740993 1', '[9007199254740993', '{9007199254740993:1}', '-', '0123456789012345678'])(
  '%j is no JSON',
  (text) => {
    expect(() => parseExactly(text)).toThrow(SyntaxError)
  },
)

it('reads everything else as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 0, max: 20 }), (json, indent) => {
      fc.pre(!/\d{16}/.test(json))
      const text = JSON.stringify([JSON.parse(json), '1'.repeat(20)], null, indent)
      expect(parseExactly(text)).toEqual(JSON.parse(text))
    }),
  )
})

it('writes what it has read', () => {
  const member = fc.oneof(
    fc.bigInt({ min: -(2n ** 64n) + 1n, max: 2n ** 64n - 1n }).map(String),
    fc.json(),
    fc.string().map((text) => JSON.stringify(text)),
  )
  fc.assert(
    fc.property(fc.array(member), (members) => {
      const compact = members.map((text) => (/^-?\d+$/.test(text) ? text : JSON.stringify(JSON.parse(text))))
      const text = `[${compact.join(',')}]`
      expect(stringifyExactly(parseExactly(text))).toBe(text)
    }),
  )
})
