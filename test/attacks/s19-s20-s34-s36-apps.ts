// Apps that reach for the server, or for all of its time and memory; events that would pass by an app; and apps of other
// organizations and of private projects.
import { expect } from 'vitest'
import { attack, attackEach, type Attack } from './attack.ts'
import { makeApp, runSource } from './app-trial.ts'
import { ask } from './s03-sql.ts'
import type { Scene } from './scene.ts'

/** What each gives is either nothing, or an error: never a piece of the server. */
const REACHES: [string, string][] = [
  ['process', 'typeof process.env'],
  ['require', `require('fs').readFileSync('/etc/passwd', 'utf8')`],
  ['require of a child process', `require('child_process').execSync('id').toString()`],
  ['an import', `(await import('node:fs')).readFileSync('/etc/passwd', 'utf8')`],
  ['the constructor of functions', `(() => {}).constructor('return process')().pid`],
  ['the constructor of what it is given', `meta.constructor.constructor('return process')().pid`],
  ['the constructor of fetch', `(await fetch.constructor('return process')()).pid`],
  ['the prototype of a promise', `Promise.resolve().constructor.constructor('return process')().pid`],
  [
    'global objects',
    `[globalThis.process, globalThis.module, globalThis.Buffer && Buffer.poolSize, globalThis.std, globalThis.os].filter(Boolean).length || undefined.x`,
  ],
  ['eval', `(0, eval)('process.pid')`],
  ['WebAssembly', 'new WebAssembly.Memory({ initial: 1 }).buffer.byteLength'],
  ['files of QuickJS', `(await import('std')).loadFile('/etc/passwd')`],
  ['shared memory', 'new Atomics.constructor(1).x.y'],
  [
    'stack frames',
    `(() => { Error.prepareStackTrace = (_, frames) => frames; const f = new Error().stack; return f[0].getThis().process.pid })()`,
  ],
]

const reaches = attackEach<Scene, (typeof REACHES)[number]>(
  'S19',
  REACHES,
  ([name]) => `an app that reaches for ${name}`,
  async (scene, [, code]) => {
    const source = `export async function processEvent(event, meta) {
      try { event.properties.got = String(${code}) } catch (error) { event.properties.refused = String(error) }
      return event
    }`
    const { event } = await runSource(scene, source)
    expect(event.properties.got).toBe(undefined)
    expect(event.properties.refused).toEqual(expect.any(String))
    expect(JSON.stringify(event)).not.toContain('root:')
  },
)

const BOMBS: [string, string][] = [
  ['loops', 'for (;;) {}'],
  ['takes all memory', 'const all = []; for (;;) all.push(new Array(100000).fill(1))'],
  ['takes one large piece', `'x'.repeat(2 ** 30).repeat(8)`],
  ['calls itself', 'const f = () => f() + 1; f()'],
  ['doubles a text', `let text = 'x'; for (;;) text += text`],
  ['matches for ever', `/^(a+)+$/.test('a'.repeat(40) + 'b')`],
  ['gives back a large event', `event.properties.all = 'x'.repeat(50_000_000)`],
  ['gives back itself', 'event.properties.self = event'],
  ['makes promises of promises', 'const more = () => Promise.resolve().then(more); await more()'],
  ['logs without end', `for (;;) console.log('x'.repeat(1000))`],
  ['throws what is no error', 'throw { toString() { for (;;) {} } }'],
]

const bombs = attackEach<Scene, (typeof BOMBS)[number]>(
  'S20',
  BOMBS,
  ([name]) => `an app that ${name}`,
  async (scene, [, code]) => {
    const source = `export async function processEvent(event) { ${code}; return event }`
    const { error, event } = await runSource(scene, source)
    expect(error !== null || JSON.stringify(event).length < 1_000_000).toBe(true)
    const fine = await runSource(
      scene,
      'export function processEvent(event) { event.properties.ok = 1; return event }',
    )
    expect(fine.event.properties.ok).toBe(1)
  },
)

const MARKS = ['$plugins_succeeded', '$plugins_failed', '$plugins_deferred', '$plugin_hops']

const marks = attackEach<Scene, string>(
  'S34',
  MARKS,
  (mark) => `events that say of themselves, by ${mark}, that an app has seen them`,
  async (scene, mark) => {
    const { call, home } = scene
    const { key } = home.owner
    const source = `export function processEvent(event) { delete event.properties.ssn; return event }`
    const plugin = await makeApp(scene, source)
    const configs = `/api/projects/${home.project.id}/plugin_configs/`
    const made = await call('POST', configs, { key, body: { plugin, enabled: true } })
    expect(made.status).toBe(201)
    const send = (event: string, properties: object) =>
      call('POST', '/e/', { body: { api_key: home.project.api_token, event, distinct_id: 'd', properties } })
    const ssnOf = async (name: string) =>
      (await ask(scene, 'select properties.ssn from events where event = {name}', { values: { name } })).body
        .results
    // The app is loaded beside the answer.
    let tries = 0
    const ssnOfNext = async () => {
      const name = `loaded ${mark} ${++tries}`
      await send(name, { ssn: '078-05-1120' })
      return ssnOf(name)
    }
    await expect.poll(ssnOfNext).toEqual([[null]])
    const name = `marked ${mark}`
    const marked = [`App (${made.body.id})`, String(made.body.id), made.body.id]
    const properties = { ssn: '078-05-1120', [mark]: marked }
    for (const sent of [properties, { ...properties, [mark]: 5 }])
      expect((await send(name, sent)).status).toBe(200)
    expect(await ssnOf(name)).toEqual([[null], [null]])
    expect((await call('DELETE', `${configs}${made.body.id}/`, { key })).status).toBe(204)
  },
)

const offered = attackEach<Scene, 'owner' | 'admin' | 'member'>(
  'S36',
  ['owner', 'admin', 'member'],
  (level) => `an app for everybody, made or changed by the ${level} of an organization`,
  async (scene, level) => {
    const { call, home } = scene
    const plugins = `/api/organizations/${home.organization.id}/plugins/`
    const { key } = scene[level]
    const made = await call('POST', plugins, { key, body: { name: 'For all', is_global: true } })
    expect([400, 403].includes(made.status) || made.body.is_global === false).toBe(true)
    const id = await makeApp(scene, 'export function processEvent(event) { return event }')
    const changed = await call('PATCH', `${plugins}${id}/`, { key, body: { is_global: true } })
    expect([400, 403].includes(changed.status) || changed.body.is_global === false).toBe(true)
    const theirs = `/api/organizations/${scene.victim.organization.id}/plugins/?limit=100`
    const { results } = (await call('GET', theirs, { key: scene.victim.owner.key })).body
    expect(results.map((plugin: { id: number }) => plugin.id)).not.toContain(id)
  },
)

const borrowed = attack<Scene>(
  'S36',
  'an app of another organization switched on, read, tested and replaced',
  async (scene) => {
    const { call, home, victim } = scene
    const id = scene.children('/plugins/:id/', victim)
    const { key } = home.owner
    const configs = `/api/projects/${home.project.id}/plugin_configs/`
    const taken = await call('POST', configs, { key, body: { plugin: Number(id), enabled: true } })
    expect([400, 403, 404]).toContain(taken.status)
    const one = `/api/organizations/${home.organization.id}/plugins/${id}/`
    for (const [method, path, body] of [
      ['GET', 'source/', undefined],
      ['PATCH', 'update_source/', { 'index.ts': 'export function processEvent() { return null }' }],
      ['POST', 'test/', { event: {} }],
      ['POST', 'upgrade/', {}],
    ] as const) {
      const reply = await call(method, one + path, { key, ...(body ? { body } : {}) })
      expect([path, reply.status]).toEqual([path, 404])
    }
  },
)

const private_code = attack<Scene>(
  'S36',
  'an app that runs in a private project, replaced and removed by a member without access to it',
  async (scene) => {
    const { call, home, owner, member } = scene
    const below = `/api/organizations/${home.organization.id}/`
    const id = await makeApp(scene, 'export function onEvent() {}')
    const made = await call('POST', `${below}projects/`, { key: owner.key, body: { name: 'Private' } })
    const project = `/api/projects/${made.body.id}/`
    const closed = { key: owner.key, body: { access_level: 'none' } }
    expect((await call('PUT', `${project}access_controls/`, closed)).status).toBe(200)
    const config = { plugin: id, enabled: true, config: { token: 'of the project' } }
    const on = await call('POST', `${project}plugin_configs/`, { key: owner.key, body: config })
    expect(on.status).toBe(201)
    for (const [method, path, body] of [
      [
        'PATCH',
        'update_source/',
        { 'index.ts': 'export function onEvent(e, { config }) { fetch(config.token) }' },
      ],
      ['PATCH', '', { config_schema: [] }],
      ['POST', 'upgrade/', {}],
      ['DELETE', '', undefined],
    ] as const) {
      const sent = { key: member.key, ...(body ? { body } : {}) }
      const reply = await call(method, `${below}plugins/${id}/${path}`, sent)
      expect([method, path, reply.status]).toEqual([method, path, 403])
    }
    expect((await call('DELETE', project, { key: owner.key })).status).toBe(204)
  },
)

export const attacks: Attack<Scene>[] = [...reaches, ...bombs, ...marks, ...offered, borrowed, private_code]
