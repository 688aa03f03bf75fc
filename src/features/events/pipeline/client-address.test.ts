import { describe, expect, it } from 'vitest'
import { addClientAddress } from './client-address.ts'

const event = (properties: Record<string, unknown>) => ({
  uuid: '',
  event: 'e',
  distinct_id: 'd',
  properties,
  timestamp: 1n,
  created_at: 1n,
})

describe('addClientAddress', () => {
  it.each<[Record<string, unknown>, string | null, Record<string, unknown>]>([
    [{}, '1.2.3.4', { $ip: '1.2.3.4' }],
    [{ $ip: '5.6.7.8' }, '1.2.3.4', { $ip: '5.6.7.8' }],
    [{ $ip: null }, '1.2.3.4', { $ip: null }],
    [{}, null, {}],
    [{ $ip: '5.6.7.8' }, null, {}],
  ])('%j from %s', (properties, address, expected) => {
    const made = event({ ...properties })
    addClientAddress(made, address)
    expect(made.properties).toEqual(expected)
  })
})
