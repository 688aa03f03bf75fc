// Keys that mean something to JavaScript, wherever users choose keys.
import { expect } from 'vitest'
import { attackEach, type Attack } from './attack.ts'
import { ask } from './s03-sql.ts'
import type { Scene } from './scene.ts'

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']

/** Each sends a text, lest our own objects get in the way. */
const PLACES: [string, (scene: Scene, key: string) => Promise<{ status: number }>][] = [
  ['a property of an event', (scene, key) => capture(scene, `"properties":{"${key}":{"polluted":1}}`)],
  ['a property deep down', (scene, key) => capture(scene, `"properties":{"a":{"${key}":{"polluted":1}}}`)],
  [
    'a property of a person',
    (scene, key) =>
      capture(scene, `"properties":{"$set":{"${key}":{"polluted":1}},"$set_once":{"${key}":1}}`),
  ],
  [
    'a group',
    (scene, key) =>
      capture(
        scene,
        `"properties":{"$groups":{"${key}":"polluted"},"$group_type":"${key}","$group_key":"x","$group_set":{"polluted":1}}`,
      ),
  ],
  ['the envelope', (scene, key) => capture(scene, `"properties":{},"${key}":{"polluted":1,"api_key":"x"}`)],
  ['the name of an event', (scene, key) => capture(scene, `"properties":{}`, key)],
  [
    'a value of a query',
    (scene, key) =>
      query(scene, `{"query":{"kind":"HogQLQuery","query":"select 1","values":{"${key}":{"polluted":1}}}}`),
  ],
  [
    'a column of a query',
    (scene, key) => ask(scene, `select properties.${key}, 1 as ${key} from events limit 1`),
  ],
  [
    'a filter of events',
    ({ call, home }, key) =>
      call(
        'GET',
        `/api/projects/${home.project.id}/events/?properties=${encodeURIComponent(`[{"key":"${key}","value":"x","operator":"${key}"}]`)}`,
        { key: home.owner.key },
      ),
  ],
  [
    'a parameter',
    ({ call, home }, key) =>
      call('GET', `/api/projects/${home.project.id}/events/?${key}=1&${key}[polluted]=1&limit=1`, {
        key: home.owner.key,
      }),
  ],
  [
    'a setting of an account',
    ({ call, member }, key) =>
      raw(
        call('PATCH', '/api/users/@me/', {
          session: member.session,
          headers: JSON_TYPE,
          body: `{"hedgehog_config":{"${key}":{"polluted":1}},"${key}":{"is_staff":true}}`,
        }),
      ),
  ],
  [
    'a setting of an export',
    ({ call, exports, home }, key) =>
      raw(
        call('POST', exports, {
          key: home.owner.key,
          headers: JSON_TYPE,
          body: `{"name":"n","interval":"hour","destination":{"type":"NoOp","config":{"${key}":{"polluted":1}}}}`,
        }),
      ),
  ],
  [
    'a source file of an app',
    ({ call, home }, key) =>
      raw(
        call('POST', `/api/organizations/${home.organization.id}/plugins/`, {
          key: home.owner.key,
          headers: JSON_TYPE,
          body: `{"name":"n","config_schema":{"${key}":{"polluted":1}},"${key}":{"polluted":1}}`,
        }),
      ),
  ],
  [
    'a field of a form',
    ({ call }, key) =>
      call('POST', '/e/', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `${key}=1&${key}[polluted]=1&data=x`,
      }),
  ],
  [
    'a part of a form',
    ({ call }, key) =>
      call('POST', '/e/', {
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: `--b\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n{"polluted":1}\r\n--b--\r\n`,
      }),
  ],
]

const JSON_TYPE = { 'content-type': 'application/json' }
const raw = (reply: Promise<{ status: number }>) => reply

function capture({ call, home }: Scene, rest: string, event = 'keyed') {
  const body = `{"api_key":"${home.project.api_token}","event":"${event}","distinct_id":"d",${rest}}`
  return call('POST', '/e/', { body })
}

function query({ call, home }: Scene, body: string) {
  const path = `/api/projects/${home.project.id}/query/`
  return call('POST', path, { key: home.owner.key, headers: JSON_TYPE, body })
}

/** Objects that were made since have what they were given, and no more. */
async function assertClean({ call, home, target }: Scene): Promise<void> {
  const sent = { api_key: home.project.api_token, event: 'clean', distinct_id: 'c', properties: { own: 1 } }
  expect((await call('POST', '/e/', { body: sent })).status).toBe(200)
  const path = `/api/projects/${home.project.id}/events/?event=clean&limit=1`
  const { body } = await call('GET', path, { key: home.owner.key })
  expect(body.results[0].properties).toMatchObject({ own: 1 })
  expect(JSON.stringify(body)).not.toContain('polluted')
  const { body: me } = await call('GET', '/api/users/@me/', { key: home.owner.key })
  expect([me.is_staff, JSON.stringify(me).includes('polluted')]).toEqual([false, false])
  expect(target.stderr()).toBe('')
}

export const attacks: Attack<Scene>[] = attackEach<Scene, (typeof PLACES)[number]>(
  'S18',
  PLACES,
  ([place]) => `names of prototypes as ${place}`,
  async (scene, [, send]) => {
    for (const key of KEYS) {
      const { status } = await send(scene, key)
      expect([key, status < 500]).toEqual([key, true])
    }
    await assertClean(scene)
  },
)
