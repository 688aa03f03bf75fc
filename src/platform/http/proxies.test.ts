import { expect, it } from 'vitest'
import { proxiesAmong } from './proxies.ts'

it.each<[readonly string[], string, boolean]>([
  [[], '127.0.0.1', false],
  [['192.0.2.1'], '192.0.2.1', true],
  [['192.0.2.1'], '::ffff:192.0.2.1', true],
  [['192.0.2.1'], '192.0.2.2', false],
  [['10.0.0.0/8', '2001:db8::/32'], '10.1.2.3', true],
  [['10.0.0.0/8', '2001:db8::/32'], '2001:db8:1::1', true],
  [['10.0.0.0/8', '2001:db8::/32'], '2001:db9::1', false],
  [['loopback'], '127.9.9.9', true],
  [['loopback'], '::1', true],
  [['linklocal'], 'fe80::1', true],
  [['uniquelocal'], '192.168.7.7', true],
  [['uniquelocal'], '203.0.113.1', false],
  [['loopback'], '', false],
])('of %j: %s is %s', (entries, address, expected) => {
  expect(proxiesAmong(entries)(address)).toBe(expected)
})
