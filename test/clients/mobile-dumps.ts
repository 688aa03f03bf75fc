// Libraries for apps: iOS, Android, React Native and Flutter, which is a shell around the first two.
import { GROUP, iso, NO_FLAGS, PERSON, PROPERTIES, STORED, type Dump, type Scene } from './dump.ts'

const SESSION = { $session_id: '0198aaaa-0000-7000-8000-000000000001' }
/** What apps look at in the settings: no replay, no surveys, and gzip. */
const SETTINGS = { sessionRecording: false, supportedCompression: ['gzip', 'gzip-js'] }

type Shape = {
  lib: string
  headers: Record<string, string>
  /** Facts of the device and the app. */
  context: object
  time(at: Date): string
  id(uuid: string): string
  batch: string
  flags: string
  is_packed: boolean
}

/** The events of an app are the same everywhere; what surrounds them is not. */
function appDump(shape: Shape): Dump {
  return {
    lib: shape.lib,
    tells_sent_at: true,
    has_alias: true,
    has_groups: true,
    requests: (scene) => requestsOf(shape, scene),
  }
}

function requestsOf(shape: Shape, { token, user, before, company, at, sent_at, uuid }: Scene) {
  const lib = { $lib: shape.lib, $lib_version: '3.30.0' }
  const event = (name: string, properties: object) => ({
    event: name,
    distinct_id: user,
    properties: { ...properties, ...shape.context, ...lib, ...SESSION, $is_identified: true },
    timestamp: shape.time(at),
    uuid: shape.id(uuid()),
  })
  const packed = shape.is_packed ? ({ packed: 'gzip' } as const) : {}
  const headers = { ...shape.headers, ...(shape.is_packed ? { 'content-encoding': 'gzip' } : {}) }
  return [
    {
      method: 'GET' as const,
      path: `/array/${token}/config`,
      headers: shape.headers,
      answer: { token, ...SETTINGS },
    },
    {
      path: shape.batch,
      headers,
      ...packed,
      body: {
        api_key: token,
        batch: [
          event('$identify', { distinct_id: user, $anon_distinct_id: before, $set: PERSON }),
          event('sdk event', PROPERTIES),
          event('$screen', { $screen_name: 'Checkout' }),
          event('$groupidentify', { $group_type: 'company', $group_key: company, $group_set: GROUP }),
          event('$create_alias', { alias: `${user}-alias` }),
        ],
        sent_at: shape.time(sent_at),
      },
      answer: STORED,
    },
    {
      path: shape.flags,
      headers,
      ...packed,
      body: {
        api_key: token,
        distinct_id: user,
        $anon_distinct_id: before,
        $device_id: uuid(),
        groups: { company },
        person_properties: {},
        group_properties: {},
      },
      answer: NO_FLAGS,
    },
    { path: '/s/', headers, ...packed, body: [event('$snapshot', { $snapshot_data: [] })], answer: STORED },
    { path: `/i/v1/logs?token=${token}`, headers, ...packed, body: { resourceLogs: [] }, answer: STORED },
    {
      path: '/api/push_subscriptions/',
      headers,
      ...packed,
      body: { api_key: token, distinct_id: user, device_token: 't', platform: 'ios', app_id: 'a' },
      answer: {},
    },
  ]
}

const ios: Shape = {
  lib: 'posthog-ios',
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'posthog-ios/3.30.0',
    'accept-encoding': 'gzip',
  },
  context: { $os_name: 'iOS', $os_version: '18.1', $device_manufacturer: 'Apple', $screen_width: 390 },
  time: (at) => iso(at, 3, 'Z'),
  // Older ones write them as the system does.
  id: (uuid) => uuid.toUpperCase(),
  batch: '/batch',
  flags: '/flags?v=2',
  is_packed: true,
}

const android: Shape = {
  lib: 'posthog-android',
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'posthog-android/3.30.0',
    'accept-encoding': 'gzip',
  },
  context: { $os_name: 'Android', $os_version: '15', $device_name: 'emu64a', $screen_density: 2.75 },
  time: (at) => iso(at, 3, 'Z'),
  id: (uuid) => uuid,
  batch: '/batch',
  flags: '/flags/?v=2',
  is_packed: true,
}

const reactNative: Shape = {
  lib: 'posthog-react-native',
  headers: { 'content-type': 'application/json', 'user-agent': 'okhttp/4.9.2' },
  context: { $os_name: 'Android', $device_type: 'Mobile', $app_version: '1.0' },
  time: (at) => iso(at, 3, 'Z'),
  id: (uuid) => uuid,
  batch: '/batch/',
  flags: '/flags/?v=2&config=true',
  is_packed: true,
}

/** A shell tells its own name in place of the library's below it. */
const flutter = (below: Shape): Shape => ({
  ...below,
  lib: 'posthog-flutter',
  headers: { ...below.headers, 'user-agent': 'posthog-flutter/5.9.0' },
})

export const MOBILE_DUMPS = {
  ios: appDump(ios),
  android: appDump(android),
  'react-native': appDump(reactNative),
  'flutter on ios': appDump(flutter(ios)),
  'flutter on android': appDump(flutter(android)),
}
