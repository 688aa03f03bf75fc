import { expect, it } from 'vitest'
import { originOf, plainAddress } from './network.ts'

it.each([
  ['192.0.2.1', '192.0.2.1', 'address'],
  ['192.0.2.1', '::ffff:192.0.2.1', 'address'],
  ['192.0.2.1', '192.0.2.200', 'network'],
  ['192.0.2.1', '192.0.3.1', null],
  ['2001:db8::1', '2001:db8::ffff:1', 'address'],
  ['2001:db8::1', '2001:DB8:0:0::2%eth0', 'address'],
  ['2001:db8::1', '2001:db8:0:1::1', 'network'],
  ['2001:db8::1', '2001:db8:1::1', null],
  ['64:ff9b::203.0.113.9', '64:ff9b::203.0.113.200', 'address'],
  ['nonsense', '', 'address'],
])('%s and %s share the %s', (one, other, shared) => {
  const [a, b] = [originOf(one), originOf(other)]
  expect(a.address === b.address ? 'address' : a.network === b.network ? 'network' : null).toBe(shared)
  expect(a.address).not.toBe(a.network)
})

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::FFFF:203.0.113.9', '203.0.113.9'],
  ['2001:db8::ffff:1', '2001:db8::ffff:1'],
])('%s is written as %s', (ip, plain) => {
  expect(plainAddress(ip)).toBe(plain)
})
