// Libraries for .NET, Rust and Elixir, and the path with an answer for each event, which some can be switched to.
import { definitions, GROUP, iso, NO_FLAGS, PERSON, PROPERTIES, STORED, type Dump } from './dump.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

const dotnet: Dump = {
  lib: 'posthog-dotnet',
  tells_sent_at: false,
  has_alias: true,
  has_groups: true,
  requests(scene) {
    const { token, user, before, company, at, uuid } = scene
    const lib = { $lib: 'posthog-dotnet', $lib_version: '2.5.0', $geoip_disable: true }
    const machine = { $os: 'Linux', $framework: '.NET 9.0.1', $arch: 'X64', $is_server: true }
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'posthog-dotnet/2.5.0 (.NET 9.0.1; Linux 6.1; X64)',
    }
    // Identify, alias and group go out at once, each by itself and without a time of their own.
    const single = (event: string, properties: object) => ({
      path: '/capture',
      headers,
      body: { event, distinct_id: user, properties: { ...properties, ...lib, ...machine }, api_key: token },
      answer: STORED,
    })
    return [
      {
        path: '/batch',
        headers: { ...headers, 'content-encoding': 'gzip' },
        packed: 'gzip',
        body: {
          api_key: token,
          historical_migration: false,
          batch: [
            {
              uuid: uuid(),
              event: 'sdk event',
              distinct_id: user,
              properties: { ...PROPERTIES, distinct_id: user, ...lib },
              timestamp: iso(at, 7, '+00:00'),
            },
          ],
        },
        answer: STORED,
      },
      single('$identify', { $set: PERSON }),
      single('$create_alias', { distinct_id: user, alias: before }),
      single('$groupidentify', { $group_type: 'company', $group_key: company, $group_set: GROUP }),
      {
        path: '/flags/?v=2',
        headers,
        body: {
          api_key: token,
          distinct_id: user,
          groups: {},
          group_properties: {},
          geoip_disable: true,
          properties: { ...lib, ...machine },
        },
        answer: NO_FLAGS,
      },
      definitions(scene, '/flags/definitions', { 'user-agent': headers['user-agent'] }),
    ]
  },
}

const rust: Dump = {
  lib: 'posthog-rs',
  tells_sent_at: true,
  has_alias: false,
  has_groups: false,
  requests(scene) {
    const { token, user, at, sent_at, uuid } = scene
    const lib = {
      $lib: 'posthog-rs',
      $lib_version: '0.21.0',
      $lib_version__major: 0,
      $lib_version__minor: 21,
    }
    const headers = { ...JSON_TYPE, 'user-agent': 'posthog-rs/0.21.0' }
    // Nanoseconds, and no word about the zone.
    const event = (name: string, properties: object) => ({
      uuid: uuid(),
      event: name,
      distinct_id: user,
      properties: { ...properties, ...lib },
      timestamp: iso(at, 9, ''),
    })
    return [
      {
        path: '/batch/',
        headers,
        body: {
          api_key: token,
          historical_migration: false,
          sent_at: iso(sent_at, 9, '+00:00'),
          batch: [event('sdk event', { ...PROPERTIES, $groups: { company: 'rust' } })],
        },
        answer: STORED,
      },
      {
        path: '/i/v0/e/',
        headers,
        body: { api_key: token, ...event('$identify', { $set: PERSON }) },
        answer: STORED,
      },
      {
        path: '/flags/?v=2',
        headers,
        body: {
          api_key: token,
          distinct_id: user,
          groups: null,
          person_properties: null,
          group_properties: null,
        },
        answer: NO_FLAGS,
      },
      definitions(scene, '/flags/definitions/', headers),
    ]
  },
}

const elixir: Dump = {
  lib: 'posthog-elixir',
  tells_sent_at: false,
  has_alias: true,
  has_groups: true,
  requests({ token, user, before, company, at, uuid }) {
    const lib = { $lib: 'posthog-elixir', $lib_version: '2.1.0', $is_server: true }
    const headers = { ...JSON_TYPE, 'user-agent': 'posthog-elixir/2.1.0', 'content-encoding': 'gzip' }
    const event = (name: string, properties: object) => ({
      event: name,
      distinct_id: user,
      uuid: uuid(),
      timestamp: iso(at, 6, 'Z'),
      properties: { ...properties, ...lib },
    })
    return [
      {
        path: '/batch',
        headers,
        packed: 'gzip',
        body: {
          // The newest comes first.
          batch: [
            event('$groupidentify', { $group_type: 'company', $group_key: company, $group_set: GROUP }),
            event('$create_alias', { alias: before }),
            event('$identify', { $set: PERSON }),
            event('sdk event', PROPERTIES),
          ],
          api_key: token,
        },
        answer: STORED,
      },
      {
        path: '/flags?v=2',
        headers,
        packed: 'gzip',
        body: { distinct_id: user, api_key: token },
        answer: NO_FLAGS,
      },
    ]
  },
}

/** By POSTHOG_CAPTURE_MODE or an option, in Python, Go, Rust and Node. */
const analyticsV1: Dump = {
  lib: 'posthog-go',
  tells_sent_at: true,
  has_alias: true,
  has_groups: true,
  requests({ token, user, before, company, at, sent_at, uuid }) {
    const packings = ['gzip', 'deflate', 'br'] as const
    const ids = packings.map(() => uuid())
    const timestamp = iso(at, 9, 'Z')
    const send = (index: number, event: string, properties: object) => ({
      path: '/i/v1/analytics/events',
      headers: {
        ...JSON_TYPE,
        authorization: `Bearer ${token}`,
        'user-agent': 'posthog-go/1.6.0',
        'posthog-sdk-info': 'posthog-go/1.6.0',
        'posthog-attempt': '1',
        'posthog-request-id': uuid(),
        'posthog-request-timestamp': iso(sent_at, 3, 'Z'),
        'content-encoding': packings[index]!,
      },
      packed: packings[index]!,
      body: {
        created_at: iso(sent_at, 3, 'Z'),
        batch: [
          {
            event,
            uuid: ids[index],
            distinct_id: user,
            timestamp,
            session_id: 's-1',
            options: {},
            properties,
          },
          ...(index === 0
            ? [
                {
                  event: '$identify',
                  uuid: uuid(),
                  distinct_id: user,
                  timestamp,
                  options: {},
                  properties: { $set: PERSON },
                },
              ]
            : []),
        ],
      },
      answer: { results: { [ids[index]!]: { result: 'ok' } } },
    })
    return [
      send(0, 'sdk event', PROPERTIES),
      send(1, '$create_alias', { distinct_id: user, alias: before }),
      send(2, '$groupidentify', { $group_type: 'company', $group_key: company, $group_set: GROUP }),
    ]
  },
}

export const NEWER_DUMPS = { dotnet, rust, elixir, 'analytics v1': analyticsV1 }
