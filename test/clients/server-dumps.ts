// Libraries for servers. Each sends an event, person properties, an alias and a group, asks for flags, and fetches
// definitions where it evaluates flags itself.
import { definitions, GROUP, iso, NO_FLAGS, PERSON, PROPERTIES, STORED, type Dump } from './dump.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const agent = (name: string) => ({ ...JSON_TYPE, 'user-agent': name })

const python: Dump = {
  lib: 'posthog-python',
  tells_sent_at: true,
  has_alias: true,
  has_groups: true,
  requests(scene) {
    const { token, user, before, company, at, sent_at, uuid } = scene
    const lib = { $lib: 'posthog-python', $lib_version: '7.0.0', $is_server: true, $geoip_disable: true }
    const timestamp = iso(at, 6, '+00:00')
    const common = () => ({ timestamp, uuid: uuid(), distinct_id: user })
    const headers = agent('posthog-python/7.0.0')
    return [
      {
        path: '/batch/',
        headers: { ...headers, 'content-encoding': 'gzip' },
        packed: 'gzip',
        body: {
          batch: [
            { properties: { ...PROPERTIES, ...lib }, event: 'sdk event', ...common() },
            { $set: PERSON, event: '$set', properties: { ...lib, $set: PERSON }, ...common() },
            { properties: { distinct_id: user, alias: before, ...lib }, event: '$create_alias', ...common() },
            {
              event: '$groupidentify',
              properties: { $group_type: 'company', $group_key: company, $group_set: GROUP, ...lib },
              ...common(),
            },
          ],
          historical_migration: false,
          sent_at: iso(sent_at, 6, '+00:00'),
          api_key: token,
        },
        answer: STORED,
      },
      {
        path: '/flags/?v=2',
        headers,
        body: {
          distinct_id: user,
          groups: {},
          person_properties: { distinct_id: user },
          group_properties: {},
          geoip_disable: true,
          device_id: null,
          sent_at: iso(sent_at, 6, '+00:00'),
          api_key: token,
        },
        answer: NO_FLAGS,
      },
      definitions(scene, '/flags/definitions', { 'user-agent': 'posthog-python/7.0.0' }),
      // Until version 6.
      definitions(scene, '/api/feature_flag/local_evaluation/', { 'user-agent': 'posthog-python/3.7.0' }),
      {
        path: '/decide/?v=3',
        headers,
        body: { distinct_id: user, groups: {}, sent_at: iso(sent_at, 6, '+00:00'), api_key: token },
        answer: { featureFlags: {}, featureFlagPayloads: {} },
      },
    ]
  },
}

const go: Dump = {
  lib: 'posthog-go',
  tells_sent_at: false,
  has_alias: true,
  has_groups: true,
  requests(scene) {
    const { token, user, before, company, at, uuid } = scene
    const lib = { $lib: 'posthog-go', $lib_version: '1.6.0', $is_server: true }
    const timestamp = iso(at, 9, 'Z')
    const old = { library: 'posthog-go', library_version: '1.6.0' }
    const headers = agent('posthog-go/1.6.0')
    return [
      {
        path: '/batch/?compression=gzip',
        headers: { ...headers, 'content-encoding': 'gzip' },
        packed: 'gzip',
        body: {
          api_key: token,
          batch: [
            {
              uuid: uuid(),
              timestamp,
              distinct_id: user,
              event: 'sdk event',
              properties: { ...PROPERTIES, ...lib },
            },
            {
              type: 'identify',
              uuid: uuid(),
              ...old,
              timestamp,
              event: '$identify',
              distinct_id: user,
              properties: lib,
              $set: PERSON,
            },
            {
              type: 'alias',
              uuid: uuid(),
              ...old,
              timestamp,
              properties: { distinct_id: user, alias: before, ...lib },
              event: '$create_alias',
            },
            {
              uuid: uuid(),
              ...old,
              timestamp,
              event: '$groupidentify',
              distinct_id: user,
              properties: { $group_type: 'company', $group_key: company, $group_set: GROUP, ...lib },
            },
          ],
        },
        answer: STORED,
      },
      {
        path: '/flags/?v=2',
        headers,
        body: {
          api_key: token,
          distinct_id: user,
          groups: {},
          person_properties: {},
          group_properties: {},
        },
        answer: NO_FLAGS,
      },
      definitions(scene, '/flags/definitions', headers),
    ]
  },
}

const ruby: Dump = {
  lib: 'posthog-ruby',
  tells_sent_at: false,
  has_alias: true,
  has_groups: true,
  requests(scene) {
    const { token, user, before, company, at, uuid } = scene
    const lib = { $lib: 'posthog-ruby', $lib_version: '3.4.0', $is_server: true }
    const common = () => ({ timestamp: iso(at, 3, 'Z'), distinct_id: user, uuid: uuid() })
    const headers = { ...agent('posthog-ruby/3.4.0'), accept: 'application/json' }
    return [
      {
        path: '/batch/?compression=gzip',
        headers: { ...headers, 'content-encoding': 'gzip' },
        packed: 'gzip',
        body: {
          api_key: token,
          batch: [
            { ...common(), type: 'capture', event: 'sdk event', properties: { ...PROPERTIES, ...lib } },
            {
              ...common(),
              type: 'identify',
              event: '$identify',
              $set: PERSON,
              properties: { ...PERSON, ...lib },
            },
            {
              ...common(),
              type: 'alias',
              event: '$create_alias',
              properties: { distinct_id: user, alias: before, ...lib },
            },
            {
              ...common(),
              event: '$groupidentify',
              properties: { ...lib, $group_type: 'company', $group_key: company, $group_set: GROUP },
            },
          ],
        },
        answer: STORED,
      },
      { path: '/flags/?v=2', headers, body: { distinct_id: user, token }, answer: NO_FLAGS },
      definitions(scene, '/flags/definitions', { 'user-agent': 'posthog-ruby/3.4.0' }),
    ]
  },
}

const php: Dump = {
  lib: 'posthog-php',
  tells_sent_at: false,
  has_alias: true,
  has_groups: true,
  requests(scene) {
    const { token, user, before, company, at } = scene
    const lib = { $lib: 'posthog-php', $lib_version: '4.2.0', $lib_consumer: 'LibCurl', $is_server: true }
    const common = { groups: [], timestamp: iso(at, 3, '+00:00') }
    const headers = agent('posthog-php/4.2.0')
    return [
      {
        path: '/batch/',
        headers: { ...headers, 'content-encoding': 'gzip' },
        packed: 'gzip',
        body: {
          batch: [
            { event: 'sdk event', properties: { ...PROPERTIES, ...lib }, distinct_id: user, ...common },
            { properties: lib, distinct_id: user, ...common, $set: PERSON, event: '$identify' },
            // The person stands in the properties alone.
            {
              properties: { ...lib, distinct_id: user, alias: before },
              distinct_id: null,
              ...common,
              event: '$create_alias',
            },
            {
              event: '$groupidentify',
              properties: { $group_type: 'company', $group_key: company, $group_set: GROUP, ...lib },
              distinct_id: user,
              ...common,
            },
          ],
          api_key: token,
        },
        answer: STORED,
      },
      {
        path: '/flags/?v=2',
        headers,
        body: { api_key: token, distinct_id: user, groups: {}, person_properties: {}, group_properties: {} },
        answer: NO_FLAGS,
      },
      {
        ...definitions(scene, '/flags/definitions', headers),
        path: `/flags/definitions?send_cohorts&token=${token}`,
      },
    ]
  },
}

const java: Dump = {
  lib: null,
  tells_sent_at: false,
  has_alias: true,
  has_groups: false,
  requests({ token, user, before, at, uuid }) {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'okhttp/4.12.0' }
    const event = (name: string, properties: object) => ({
      uuid: uuid(),
      timestamp: iso(at, 6, 'Z'),
      distinct_id: user,
      event: name,
      $lib: 'posthog-java',
      properties,
    })
    return [
      {
        path: '/batch',
        headers,
        body: {
          api_key: token,
          batch: [
            event('sdk event', PROPERTIES),
            event('$identify', { $set: PERSON }),
            event('$create_alias', { distinct_id: user, alias: before }),
          ],
        },
        answer: STORED,
      },
      {
        path: '/decide/?v=3',
        headers,
        body: { api_key: token, distinct_id: user },
        answer: { featureFlags: {}, featureFlagPayloads: {} },
      },
    ]
  },
}

export const SERVER_DUMPS = { python, go, ruby, php, java }
