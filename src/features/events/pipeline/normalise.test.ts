import { describe, expect, it } from 'vitest'
import { addClientAddress, addPersonProperties } from './normalise.ts'

const event = (properties: Record<string, unknown>) => ({
  uuid: '',
  event: 'e',
  distinct_id: 'd',
  properties,
  timestamp: 1n,
  created_at: 1n,
})

function withPerson(properties: Record<string, unknown>) {
  const made = event(properties)
  addPersonProperties(made)
  return made.properties
}

describe('addPersonProperties', () => {
  it.each([
    ['utm_source', '$initial_utm_source'],
    ['utm_campaign', '$initial_utm_campaign'],
    ['gclid', '$initial_gclid'],
    ['$referrer', '$initial_referrer'],
    ['$referring_domain', '$initial_referring_domain'],
    ['$browser', '$initial_browser'],
    ['$browser_version', '$initial_browser_version'],
    ['$os', '$initial_os'],
    ['$current_url', '$initial_current_url'],
    ['$pathname', '$initial_pathname'],
    ['$device_type', '$initial_device_type'],
    ['$app_version', '$initial_app_version'],
    ['$app_name', '$initial_app_name'],
  ])('%s is kept first as %s and latest under its name', (name, initial) => {
    expect(withPerson({ [name]: 'v', other: 1 })).toEqual({
      [name]: 'v',
      other: 1,
      $set: { [name]: 'v' },
      $set_once: { [initial]: 'v' },
    })
  })

  it('leaves what the event itself sets', () => {
    const properties = withPerson({
      $browser: 'Chrome',
      $set: { $browser: 'mine', a: 1 },
      $set_once: { $initial_browser: 'mine' },
    })
    expect(properties.$set).toEqual({ $browser: 'mine', a: 1 })
    expect(properties.$set_once).toEqual({ $initial_browser: 'mine' })
  })

  it.each<Record<string, unknown>>([{}, { a: 1 }, { $browser: null }, { $host: 'x', $ip: '1.2.3.4' }])(
    'adds nothing to %j',
    (properties) => {
      expect(withPerson({ ...properties })).toEqual(properties)
    },
  )

  it('replaces a $set that is no object', () => {
    expect(withPerson({ $os: 'Linux', $set: 'odd', $set_once: [1] })).toEqual({
      $os: 'Linux',
      $set: { $os: 'Linux' },
      $set_once: { $initial_os: 'Linux' },
    })
  })
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
