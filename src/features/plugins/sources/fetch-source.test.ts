import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startCodeHost, tarball, type CodeHost } from '../../../../test/stand-ins/code-host.ts'
import { zipFile } from '../../../../test/stand-ins/zip-file.ts'
import type { Services } from '../../../platform/services.ts'
import { fetchSource, findNewestTag } from './fetch-source.ts'

const OLD = 'a'.repeat(40)
const NEW = 'b'.repeat(40)
const OTHER = 'c'.repeat(40)
const app = (name: string, files: Record<string, string> = {}) => ({
  'plugin.json': JSON.stringify({ name }),
  'index.js': `// ${name}`,
  ...files,
})

let host: CodeHost
let tokens: Services['settings']['plugin_source_tokens']

beforeEach(async () => {
  host = await startCodeHost()
  tokens = { github: null, gitlab: null, npm: null }
})
afterEach(() => host.close())

const services = () => ({
  outbound: host.outbound,
  settings: { plugin_source_tokens: tokens } as Services['settings'],
})
const fetchIt = (url: string, token: string | null = null) => fetchSource(services(), url, token)
const refused = (detail: string) => ({
  status: 400,
  code: 'invalid_input',
  attr: 'url',
  detail: expect.stringContaining(detail),
})

describe('GitHub', () => {
  const url = 'https://github.com/acme/app'
  beforeEach(() => {
    host.github.set('acme/app', {
      commits: [
        { sha: OLD, files: app('old', { 'inner/plugin.json': '{"name":"inner"}', 'inner/index.ts': '//' }) },
        { sha: NEW, files: app('new', { 'README.md': '#' }) },
        { sha: OTHER, branch: 'dev', files: app('dev') },
      ],
      tags: { 'v1.0': OLD },
    })
  })

  test.each([
    [url, 'new', NEW],
    [`${url}/tree/dev`, 'dev', OTHER],
    [`${url}/tree/${OLD}`, 'old', OLD],
    [`${url}/commit/${OLD}`, 'old', OLD],
    [`${url}/releases/tag/v1.0`, 'old', 'refs/tags/v1.0'],
    [`${url}/archive/v1.0.tar.gz`, 'old', 'v1.0'],
    [`${url}/tree/main/inner`, 'inner', OLD],
  ])('%s', async (address, name, tag) => {
    expect(await fetchIt(address)).toMatchObject({ url: address, tag, manifest: { name } })
    expect(await findNewestTag(services(), address, null)).toBe(tag)
  })

  test('the files that mean something, and no others', async () => {
    const { files, manifest } = await fetchIt(`${url}/commit/${NEW}`)
    expect([...files]).toEqual([
      ['plugin.json', '{"name":"new"}'],
      ['index.ts', '// new'],
    ])
    expect(manifest.name).toBe('new')
  })

  test('a version that is named costs no call of the API', async () => {
    await findNewestTag(services(), `${url}/releases/tag/v1.0`, null)
    expect(host.requests).toEqual([])
  })

  test.each([
    ['https://github.com/acme/nothing', 'knows nothing at this address'],
    [`${url}/tree/nothing`, 'knows nothing at this address'],
    [`${url}/tree/main/nothing`, 'nothing at this place'],
    [`${url}/commit/${'d'.repeat(40)}`, 'knows nothing at this address'],
    [`${url}/releases/tag/v9`, 'knows nothing at this address'],
  ])('%s is a 400', async (address, detail) => {
    await expect(fetchIt(address)).rejects.toMatchObject(refused(detail))
  })
})

describe('GitLab', () => {
  const url = 'https://gitlab.com/acme/group/app'
  beforeEach(() => {
    host.gitlab.set('acme/group/app', {
      commits: [
        { sha: OLD, files: app('old', { 'inner/plugin.json': '{"name":"inner"}', 'inner/site.ts': '//' }) },
        { sha: NEW, files: app('new') },
        { sha: OTHER, branch: 'dev', files: app('dev') },
      ],
      tags: { 'v1.0': OLD },
    })
  })

  test.each([
    [url, 'new', NEW],
    [`${url}/-/tree/dev`, 'dev', OTHER],
    [`${url}/-/tree/main/inner`, 'inner', OLD],
    [`${url}/-/commit/${OLD}`, 'old', OLD],
    [`${url}/-/tags/v1.0`, 'old', 'refs/tags/v1.0'],
    [`${url}/-/archive/v1.0/app-v1.0.zip`, 'old', 'v1.0'],
  ])('%s', async (address, name, tag) => {
    expect(await fetchIt(address)).toMatchObject({ url: address, tag, manifest: { name } })
    expect(await findNewestTag(services(), address, null)).toBe(tag)
  })
})

describe('npm', () => {
  beforeEach(() => {
    host.npm.set('some-app', { versions: { '1.0.0': app('one'), '2.0.0': app('two') } })
    host.npm.set('@acme/app', { versions: { '1.0.0-beta.1+x': app('scoped') } })
  })

  test.each([
    ['https://www.npmjs.com/package/some-app', 'two', '2.0.0'],
    ['https://www.npmjs.com/package/some-app/v/1.0.0', 'one', '1.0.0'],
    ['https://www.npmjs.com/package/@acme/app', 'scoped', '1.0.0-beta.1+x'],
  ])('%s', async (address, name, tag) => {
    expect(await fetchIt(address)).toMatchObject({ url: address, tag, manifest: { name } })
    expect(await findNewestTag(services(), address, null)).toBe(tag)
  })

  test('a version that is not there', async () => {
    await expect(fetchIt('https://www.npmjs.com/package/some-app/v/3.0.0')).rejects.toMatchObject(
      refused('knows nothing'),
    )
  })
})

describe('tokens', () => {
  const places = [
    ['github', 'https://github.com/acme/secret'],
    ['gitlab', 'https://gitlab.com/acme/secret'],
    ['npm', 'https://www.npmjs.com/package/secret'],
  ] as const
  beforeEach(() => {
    const private_token = 's3cret'
    host.github.set('acme/secret', { commits: [{ sha: OLD, files: app('private') }], private_token })
    host.gitlab.set('acme/secret', { commits: [{ sha: OLD, files: app('private') }], private_token })
    host.npm.set('secret', { versions: { '1.0.0': app('private') }, private_token })
  })

  test.each(places)('of the plugin, of its address and of the instance: %s', async (provider, url) => {
    await expect(fetchIt(url)).rejects.toMatchObject(refused('keeps it private'))
    await expect(fetchIt(url, 'wrong')).rejects.toMatchObject(refused('keeps it private'))
    expect(await fetchIt(url, 's3cret')).toMatchObject({ url, manifest: { name: 'private' } })
    expect(await fetchIt(`${url}?private_token=s3cret`)).toMatchObject({ url })
    tokens[provider] = 's3cret'
    expect(await fetchIt(url)).toMatchObject({ url })
    await expect(fetchIt(url, 'wrong')).rejects.toMatchObject(refused('keeps it private'))
  })

  test.each(places)('of other services are not sent to %s', async (provider, url) => {
    tokens = { github: 'g', gitlab: 'l', npm: 'n', [provider]: null }
    await expect(fetchIt(url)).rejects.toMatchObject({ status: 400 })
    expect(host.requests.map(({ authorization }) => authorization)).toEqual([null])
  })

  test('what is no token is refused without a call, and not repeated', async () => {
    const error = await fetchIt(places[0][1], 's3cret\r\nx-injected: 1').catch((caught: Error) => caught)
    expect(error).toMatchObject(refused('private token'))
    expect(JSON.stringify(error)).not.toContain('s3cret')
    expect(host.requests).toEqual([])
  })

  test('a token that is not accepted', async () => {
    host.answerNext((response) => response.writeHead(401).end('{"message":"Bad credentials"}'))
    await expect(fetchIt(places[0][1], 's3cret')).rejects.toMatchObject(refused('does not accept the token'))
  })
})

describe('what is in the archive', () => {
  const fetchFiles = (files: Record<string, string>) => {
    host.npm.set('x', { versions: { '1.0.0': files } })
    return fetchIt('https://www.npmjs.com/package/x')
  }

  test.each([
    ['main', { main: 'dist/main.js' }, { 'dist/main.js': 'a', 'index.js': 'b' }, 'a'],
    ['main with a dot', { main: './dist/main.js' }, { 'dist/main.js': 'a' }, 'a'],
    ['index.js before index.ts', {}, { 'index.js': 'b', 'index.ts': 'c' }, 'b'],
    ['index.ts', {}, { 'index.ts': 'c' }, 'c'],
  ])('the code is %s', async (_what, fields, files, code) => {
    const fetched = await fetchFiles({ 'plugin.json': JSON.stringify({ name: 'x', ...fields }), ...files })
    expect(fetched.files.get('index.ts')).toBe(code)
    expect([...fetched.files.keys()]).toEqual(['plugin.json', 'index.ts'])
  })

  test('code for browsers alone is enough', async () => {
    const { files } = await fetchFiles({ 'plugin.json': '{"name":"x"}', 'site.ts': 's', 'frontend.tsx': 'f' })
    expect([...files]).toEqual([
      ['plugin.json', '{"name":"x"}'],
      ['frontend.tsx', 'f'],
      ['site.ts', 's'],
    ])
  })

  test.each([
    ['no plugin.json', { 'index.js': '' }, 'no plugin.json'],
    ['plugin.json one folder down', { 'app/plugin.json': '{"name":"x"}' }, 'no plugin.json'],
    ['no code', { 'plugin.json': '{"name":"x"}' }, 'index.js or index.ts is missing'],
    ['no main', { 'plugin.json': '{"name":"x","main":"a.js"}', 'index.js': '' }, 'a.js is missing'],
    [
      'code that is only in the package',
      { 'plugin.json': '{"name":"x","main":"dist/a.js"}', 'package.json': '{"name":"@shop/app"}' },
      'It may be in the package that its author publishes: https://www.npmjs.com/package/@shop/app',
    ],
    [
      'a package with a name that is none',
      { 'plugin.json': '{"name":"x","main":"dist/a.js"}', 'package.json': '{"name":"../evil?x=<b>"}' },
      'dist/a.js is missing.',
    ],
    ['a main that leads out', { 'plugin.json': '{"name":"x","main":"../a.js"}' }, '../a.js is missing'],
    ['bad JSON', { 'plugin.json': '{', 'index.js': '' }, 'not readable JSON'],
    ['no name', { 'plugin.json': '{}', 'index.js': '' }, 'no name'],
  ])('%s', async (_what, files, detail) => {
    await expect(fetchFiles(files)).rejects.toMatchObject(refused(detail))
  })

  test('in a folder of a repository, what lies deeper does not count', async () => {
    const files = {
      'one/plugin.json': '{"name":"x","main":"dist/index.js"}',
      'one/dist/index.js': '',
      'index.js': '',
    }
    host.github.set('a/b', { commits: [{ sha: OLD, files }] })
    await expect(fetchIt('https://github.com/a/b/tree/main/one')).rejects.toMatchObject(
      refused('dist/index.js is missing'),
    )
  })

  test('an archive of another kind', async () => {
    host.npm.set('x', {
      versions: { '1.0.0': {} },
      archive: zipFile([{ name: 'a/plugin.json', content: '{}' }]),
    })
    await expect(fetchIt('https://www.npmjs.com/package/x')).rejects.toMatchObject(refused('cannot be read'))
    host.github.set('a/b', { commits: [{ sha: OLD, files: {} }], archive: tarball(app('x')) })
    await expect(fetchIt('https://github.com/a/b')).rejects.toMatchObject(refused('cannot be read'))
  })

  test('more than 20 MB', async () => {
    host.github.set('a/b', {
      commits: [{ sha: OLD, files: {} }],
      archive: Buffer.alloc(20 * 1024 * 1024 + 1),
    })
    await expect(fetchIt('https://github.com/a/b')).rejects.toMatchObject(refused('larger than 20 MB'))
  })
})
