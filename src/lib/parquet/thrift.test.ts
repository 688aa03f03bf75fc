// What is read and written back is the same, in every form that a footer may take.
import { describe, expect, it } from 'vitest'
import { readStruct, writeStruct, type ThriftStruct, type ThriftValue } from './thrift.ts'

const I64 = 6
const struct = (...fields: [id: number, type: number, value: ThriftValue][]): ThriftStruct =>
  new Map(fields.map(([id, type, value]) => [id, { type, value }]))

describe('a struct', () => {
  it.each<[string, ThriftStruct, string]>([
    ['nothing', struct(), '00'],
    ['numbers of either sign', struct([1, I64, 0n], [2, I64, -1n], [3, I64, 64n]), '16001601168001' + '00'],
    ['the largest numbers', struct([1, I64, 2n ** 63n - 1n]), '16feffffffffffffffff0100'],
    ['ids far apart, and back', struct([20, I64, 1n], [1, I64, 1n]), '06280206020200'],
    ['booleans', struct([1, 1, true], [2, 2, false]), '111200'],
    ['texts', struct([4, 8, Buffer.from('ab')]), '48026162' + '00'],
    ['lists', struct([1, 9, { element_type: 5, items: [1n, 2n] }]), '1925' + '0204' + '00'],
    [
      'long lists',
      struct([1, 9, { element_type: 1, items: Array.from({ length: 16 }, () => true) }]),
      '19f110' + '01'.repeat(16) + '00',
    ],
    ['structs in structs', struct([1, 12, struct([1, I64, 1n])]), '1c160200' + '00'],
  ])('of %s', (_, value, hex) => {
    expect(writeStruct(value).toString('hex')).toBe(hex)
    expect(readStruct(Buffer.from(hex, 'hex'))).toEqual(value)
  })

  it('can be put into a list as it was written before', () => {
    const inner = struct([1, I64, 1n], [2, 8, Buffer.from('ab')])
    const listOf = (item: ThriftValue) => struct([4, 9, { element_type: 12, items: [item] }])
    expect(writeStruct(listOf(writeStruct(inner)))).toEqual(writeStruct(listOf(inner)))
  })

  it('that is cut short is refused', () => {
    const whole = writeStruct(struct([1, 8, Buffer.from('abc')]))
    for (let length = 0; length < whole.length; length++) {
      expect(() => readStruct(whole.subarray(0, length))).toThrow('too soon')
    }
  })
})
