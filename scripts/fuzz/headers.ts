// Who sends a request, and the odd headers that come along.
import fc, { type Arbitrary } from 'fast-check'
import { anyOf, hostileText } from './values.ts'
import type { Side, World } from './world.ts'

export type Headers = Record<string, string>

// What Node lets a header hold.
const headerText = hostileText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 300))
export const idempotencyKey = fc
  .constantFrom('a', 'b', 'c')
  .map((key): Headers => ({ 'idempotency-key': key }))

export function keyOf(side: Side): Arbitrary<Headers> {
  return anyOf(() => side.keys).map((value) => ({ authorization: `Bearer ${value}` }))
}

export function sessionOf(side: Side): Arbitrary<Headers> {
  return anyOf(() => side.sessions).map((value) => ({ cookie: `sessionid=${value}` }))
}

export function pendingOf(world: World): Arbitrary<Headers> {
  return anyOf(() => world.pending.slice(-2)).map((value) => ({ cookie: `sessionid=${value}` }))
}

export function wildCredential(side: Side): Arbitrary<Headers> {
  return fc.oneof(
    { weight: 8, arbitrary: keyOf(side) },
    { weight: 8, arbitrary: sessionOf(side) },
    { weight: 1, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.tuple(keyOf(side), sessionOf(side)).map(([one, other]) => ({ ...one, ...other })),
    },
    { weight: 1, arbitrary: headerText.map((value) => ({ authorization: `Bearer ${value}` })) },
    { weight: 1, arbitrary: headerText.map((value) => ({ cookie: `sessionid=${value}` })) },
  )
}

const ODD_NAMES = [
  'host',
  'origin',
  'sec-fetch-site',
  'content-type',
  'content-encoding',
  'accept',
  'idempotency-key',
  'authorization',
  'cookie',
  'x-forwarded-for',
  'x-forwarded-host',
  'if-none-match',
  'range',
  'expect',
]
const ODD_VALUES = [
  'gzip',
  'identity',
  'text/csv',
  'nonsense',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  '1.2.3.4.5',
  'a:99999',
  'null',
  'cross-site',
  'Basic abc',
]

export function oddHeaders(side: Side): Arbitrary<Headers> {
  const value = fc.oneof(headerText, fc.constantFrom(...ODD_VALUES))
  return fc.oneof(
    { weight: 3, arbitrary: idempotencyKey },
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom(...ODD_NAMES), value).map(([name, text]) => ({ [name]: text })),
    },
    {
      weight: 1,
      arbitrary: anyOf(() => side.sessions).map((token) => ({ cookie: `sessionid=x; sessionid=${token}` })),
    },
  )
}
