import { expect, test } from 'vitest'
import { madeEvent } from './fixture/event.ts'
import { urlNormaliser } from './url-normaliser.ts'

test.each([
  ['https://Example.COM/Path/', {}, 'https://example.com/Path'],
  ['HTTPS://example.com', {}, 'https://example.com'],
  ['https://example.com/', {}, 'https://example.com'],
  ['https://example.com/a//', {}, 'https://example.com/a'],
  ['https://example.com:443/a', {}, 'https://example.com/a'],
  ['http://example.com:80/a/', {}, 'http://example.com/a'],
  ['http://example.com:443/a', {}, 'http://example.com:443/a'],
  ['https://example.com:8443/', {}, 'https://example.com:8443'],
  ['https://example.com/a/?b=C&d=%20x+y', {}, 'https://example.com/a?b=C&d=%20x+y'],
  ['https://example.com/?a=1#Part/', {}, 'https://example.com?a=1#Part/'],
  ['https://user:Pass@Example.com/a/', {}, 'https://user:Pass@example.com/a'],
  ['http://a@a/', {}, 'http://a@a'],
  ['https://example.com/a?', {}, 'https://example.com/a'],
  ['http://[::1]:8000/a/', {}, 'http://[::1]:8000/a'],
  ['https://example.com/A/?B=C#D', { lowercase_all: 'Yes' }, 'https://example.com/a?b=c#d'],
  [
    'https://example.com/?utm_source=x&a=1&UTM_medium=y',
    {},
    'https://example.com?utm_source=x&a=1&UTM_medium=y',
  ],
  ['https://example.com/?utm_source=x&a=1&UTM_medium=y', { drop_utm: 'Yes' }, 'https://example.com?a=1'],
  ['https://example.com/?utm_source=x', { drop_utm: 'Yes' }, 'https://example.com'],
  ['https://example.com/?a=1&b=2&c', { drop_parameters: 'a, c' }, 'https://example.com?b=2'],
  ['https://example.com/?%61=1&ab=2', { drop_parameters: 'a' }, 'https://example.com?ab=2'],
  ['https://example.com/?x=%zz&a', { drop_parameters: 'a' }, 'https://example.com?x=%zz'],
  ['$direct', {}, '$direct'],
  ['', {}, ''],
  ['/Only/A/Path/', {}, '/Only/A/Path/'],
  ['mailto:Someone@Example.com', {}, 'mailto:Someone@Example.com'],
  ['http://', {}, 'http://'],
])('%s with %j', (url, config, expected) => {
  const event = madeEvent({
    $current_url: url,
    $set: { $current_url: url },
    $set_once: { $initial_current_url: url },
  })
  expect(urlNormaliser.open(config)(event)?.properties).toEqual({
    $current_url: expected,
    $set: { $current_url: expected },
    $set_once: { $initial_current_url: expected },
  })
})

test('only the properties that hold addresses, and only texts', () => {
  const properties = { $current_url: 7, $referrer: null, $pathname: '/A/', other: 'https://A.com/' }
  const event = madeEvent({ ...properties })
  expect(urlNormaliser.open({})(event)?.properties).toEqual(properties)
})

test('parameters of long addresses are dropped by their names as they are written, in no time', () => {
  const many = '%61&'.repeat(250_000)
  const event = madeEvent({ $current_url: `https://a.com/?token=1&${many}UTM_source=2&b=3` })
  const began = Date.now()
  const { properties } = urlNormaliser.open({ drop_parameters: 'token, a', drop_utm: 'Yes' })(event)!
  expect(Date.now() - began).toBeLessThan(2000)
  expect(properties.$current_url).toBe(`https://a.com?${many}b=3`)
})

test('a text of a million slashes takes no time', () => {
  const event = madeEvent({ $current_url: `https://a.com/${'/'.repeat(1_000_000)}x${'/'.repeat(1_000_000)}` })
  const began = Date.now()
  expect(String(urlNormaliser.open({})(event)?.properties.$current_url)).toHaveLength(1_000_015)
  expect(Date.now() - began).toBeLessThan(2000)
})
