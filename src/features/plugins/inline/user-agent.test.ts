import { expect, test } from 'vitest'
import { madeEvent } from './fixture/event.ts'
import { userAgent } from './user-agent.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const IOS_WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

test.each([
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`,
    'Chrome',
    120,
    'Windows',
    'Desktop',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2210.91`,
    'Microsoft Edge',
    120,
    'Windows',
    'Desktop',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/119.0.0.0 Safari/537.36 OPR/105.0.0.0`,
    'Opera',
    105,
    'Mac OS X',
    'Desktop',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${IOS_WEBKIT} Version/17.2 Safari/605.1.15`,
    'Safari',
    17.2,
    'Mac OS X',
    'Desktop',
  ],
  [
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0',
    'Firefox',
    121,
    'Linux',
    'Desktop',
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`,
    'Chrome',
    120,
    'Chrome OS',
    'Desktop',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) ${IOS_WEBKIT} Version/17.2 Mobile/15E148 Safari/604.1`,
    'Mobile Safari',
    17.2,
    'iOS',
    'Mobile',
  ],
  [
    `Mozilla/5.0 (iPad; CPU OS 17_2 like Mac OS X) ${IOS_WEBKIT} CriOS/120.0.6099.119 Mobile/15E148 Safari/604.1`,
    'Chrome iOS',
    120,
    'iOS',
    'Tablet',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) ${IOS_WEBKIT} FxiOS/121.0 Mobile/15E148 Safari/605.1.15`,
    'Firefox iOS',
    121,
    'iOS',
    'Mobile',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-S901B) ${WEBKIT} Chrome/112.0.0.0 Mobile Safari/537.36`,
    'Chrome',
    112,
    'Android',
    'Mobile',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-X906C) ${WEBKIT} Chrome/112.0.0.0 Safari/537.36`,
    'Chrome',
    112,
    'Android',
    'Tablet',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-S901B) ${WEBKIT} SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet',
    23,
    'Android',
    'Mobile',
  ],
  [
    'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; AS; rv:11.0) like Gecko',
    'Internet Explorer',
    11,
    'Windows',
    'Desktop',
  ],
  ['Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)', 'Internet Explorer', 8, 'Windows', 'Desktop'],
])('%s', (text, $browser, $browser_version, $os, $device_type) => {
  const event = userAgent.open({})(madeEvent({ $useragent: text }))
  expect(event?.properties).toEqual({ $useragent: text, $browser, $browser_version, $os, $device_type })
})

test.each([
  'curl/8.4.0',
  'okhttp/4.12.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) ${WEBKIT} Chrome/120.0 Mobile Safari/537.36 (compatible; bingbot/2.0)`,
  '',
  `${'Version/1 '.repeat(500_000)}`,
])('nothing is said of %.40s', (text) => {
  const began = Date.now()
  expect(userAgent.open({})(madeEvent({ $useragent: text }))?.properties).toEqual({
    $useragent: text,
  })
  expect(Date.now() - began).toBeLessThan(1000)
})

test.each(['$useragent', '$user_agent', '$raw_user_agent'])('%s is read', (name) => {
  const event = userAgent.open({})(madeEvent({ [name]: 'Mozilla/5.0 (X11; Linux) Firefox/121.0' }))
  expect(event?.properties).toMatchObject({ $browser: 'Firefox', $os: 'Linux' })
})

test('what the event says stays, unless it is to be replaced', () => {
  const properties = { $useragent: 'Mozilla/5.0 (X11; Linux) Firefox/121.0', $browser: 'Mine', $os: null }
  expect(userAgent.open({})(madeEvent({ ...properties }))?.properties).toMatchObject({
    $browser: 'Mine',
    $os: 'Linux',
  })
  expect(userAgent.open({ override: 'Yes' })(madeEvent({ ...properties }))?.properties).toMatchObject({
    $browser: 'Firefox',
    $os: 'Linux',
  })
})

test.each([undefined, null, 7, ['x']])('a user agent of %j changes nothing', (value) => {
  expect(userAgent.open({})(madeEvent({ $useragent: value }))?.properties).toEqual({
    $useragent: value,
  })
})
