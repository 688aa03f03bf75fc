import { describe, expect, test } from 'vitest'
import { ManifestFault, readManifest, readManifestFields } from './manifest.ts'

const read = (json: unknown) => readManifest(JSON.stringify(json))

describe('readManifest', () => {
  test('takes what the API shows and leaves the rest', () => {
    const config = [{ markdown: 'Hello' }, { key: 'apiKey', name: 'Key', type: 'string', secret: true }]
    const publicJobs = { 'Do it': { payload: { since: { type: 'date' } } } }
    const manifest = read({
      name: ' My app ',
      url: 'https://example.com',
      description: 'What it does',
      icon: 'https://example.com/icon.png',
      main: 'dist/index.js',
      config,
      publicJobs,
      posthogVersion: 'not a version at all',
      lib: 'lib.js',
    })
    expect(manifest).toEqual({
      name: 'My app',
      description: 'What it does',
      icon: 'https://example.com/icon.png',
      main: 'dist/index.js',
      config_schema: config,
      public_jobs: publicJobs,
    })
  })

  test('a name is enough', () => {
    expect(read({ name: 'x', description: null, config: null })).toEqual({
      name: 'x',
      description: null,
      icon: null,
      main: null,
      config_schema: {},
      public_jobs: {},
    })
  })

  test.each([
    ['the old form of config', { name: 'x', config: { a: { name: 'A', type: 'string' } } }],
    ['stateless without config', { name: 'x', stateless: true }],
    ['stateless with an empty config', { name: 'x', stateless: true, config: [] }],
    ['a config without stateless', { name: 'x', stateless: false, config: [{ key: 'a' }] }],
    ['a name of 200 characters of two units each', { name: '😀'.repeat(200) }],
  ])('%s is fine', (_what, json) => expect(read(json).name).toBe(json.name))

  test('a byte order mark is no fault', () => {
    expect(readManifest('\uFEFF{"name": "x"}').name).toBe('x')
  })

  test.each([
    ['nothing', '', 'plugin.json is not readable JSON.'],
    ['broken JSON', '{"name": "x",}', 'plugin.json is not readable JSON.'],
    ['a list', '[]', 'plugin.json is not a JSON object.'],
    ['a text', '"x"', 'plugin.json is not a JSON object.'],
    ['null', 'null', 'plugin.json is not a JSON object.'],
    ['no name', '{}', 'plugin.json has no name.'],
    ['a null name', '{"name":null}', 'plugin.json has no name.'],
    ['a blank name', '{"name":"  "}', 'plugin.json has no name.'],
    ['a number for a name', '{"name":1}', 'name in plugin.json is not a text.'],
    ['a long name', `{"name":"${'x'.repeat(201)}"}`, 'name in plugin.json has more than 200 characters.'],
    [
      'a long icon',
      `{"name":"x","icon":"${'x'.repeat(801)}"}`,
      'icon in plugin.json has more than 800 characters.',
    ],
    ['main that is no text', '{"name":"x","main":["a"]}', 'main in plugin.json is not a text.'],
    ['jobs in a list', '{"name":"x","publicJobs":[]}', 'publicJobs in plugin.json is not an object.'],
    ['config that is a text', '{"name":"x","config":"a"}', /^config in plugin\.json: /],
    ['config with an entry that is none', '{"name":"x","config":[1]}', /^config in plugin\.json: /],
    [
      'one key twice',
      '{"name":"x","config":[{"key":"a"},{"key":"a"}]}',
      /^config in plugin\.json: .*same key/,
    ],
    [
      'secret and shown',
      '{"name":"x","config":[{"key":"a","secret":true,"site":true}]}',
      /^config in plugin\.json: /,
    ],
    [
      'stateless with config',
      '{"name":"x","stateless":true,"config":[{"key":"a"}]}',
      'plugin.json says that the app is stateless and yet has a config.',
    ],
    ['a NUL', '{"name":"a\\u0000b"}', /^plugin\.json: .*NUL/],
    ['a broken character', '{"name":"a\\ud800"}', /^plugin\.json: /],
    ['__proto__', '{"name":"a","config":{"__proto__":{"type":"string"}}}', /^plugin\.json: /],
    [
      'endless nesting',
      `{"name":"a","config":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      /^plugin\.json: /,
    ],
    ['nesting that does not end', '['.repeat(65), /^plugin\.json: .*nested 64 levels/],
    ['too many values', `[${'1,'.repeat(20_000)}`, /^plugin\.json: .*20000 values/],
  ])('%s is told as a sentence', (_what, text, message) => {
    expect(() => readManifest(text)).toThrow(ManifestFault)
    expect(() => readManifest(text)).toThrow(message)
  })
})

describe('readManifestFields', () => {
  test('has only what the file mentions', () => {
    expect(readManifestFields('{"config": [], "icon": null}')).toEqual({ config_schema: [] })
    expect(readManifestFields('{}')).toEqual({})
  })

  test('demands the same of what is mentioned', () => {
    expect(() => readManifestFields('{"name": ""}')).toThrow('plugin.json has no name.')
    expect(() => readManifestFields('[]')).toThrow(ManifestFault)
  })
})
