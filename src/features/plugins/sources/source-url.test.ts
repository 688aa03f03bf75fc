import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../platform/http/errors.ts'
import { readSourceUrl } from './source-url.ts'

const SHA = '0123456789abcdef0123456789abcdef01234567'

const newest = { kind: 'branch', branch: null, folder: null }
const branch = (name: string, folder: string | null = null) => ({ kind: 'branch', branch: name, folder })
const fixed = (ref: string, folder: string | null = null) => ({ kind: 'fixed', ref, tag: ref, folder })
const github = (place: object, project = 'PostHog/some.app_1') => ({ provider: 'github', project, place })
const gitlab = (place: object, project = 'group/app') => ({ provider: 'gitlab', project, place })
const npm = (name: string, version: string | null = null) => ({ provider: 'npm', name, version })

describe('GitHub', () => {
  const base = 'https://github.com/PostHog/some.app_1'
  test.each([
    [base, github(newest)],
    [`${base}/`, github(newest)],
    [`${base}.git`, github(newest)],
    ['http://github.com/PostHog/some.app_1', github(newest)],
    ['https://www.github.com/PostHog/some.app_1', github(newest)],
    ['HTTPS://GitHub.com/PostHog/some.app_1', github(newest)],
    ['https://github.com:443/PostHog/some.app_1', github(newest)],
    [`  ${base}  `, github(newest)],
    [`${base}#readme`, github(newest)],
    [`${base}?tab=readme-ov-file`, github(newest)],
    [`${base}/tree/main`, github(branch('main'))],
    [`${base}/tree/main/`, github(branch('main'))],
    [`${base}/tree/v1.x/packages/one`, github(branch('v1.x', 'packages/one'))],
    [`${base}/tree/main/my%20app`, github(branch('main', 'my app'))],
    [`${base}/tree/${SHA}`, github(fixed(SHA))],
    [`${base}/tree/${SHA.toUpperCase()}/app`, github(fixed(SHA, 'app'))],
    [`${base}/commit/${SHA}`, github(fixed(SHA))],
    [`${base}/commit/0123456`, github(fixed('0123456'))],
    [`${base}/releases/tag/v1.0.0`, github(fixed('refs/tags/v1.0.0'))],
    [`${base}/releases/tag/%40scope%2Fapp%401.0.0`, github(fixed('refs/tags/@scope/app@1.0.0'))],
    [`${base}/releases/tag/@scope/app@1.0.0`, github(fixed('refs/tags/@scope/app@1.0.0'))],
    [`${base}/archive/v1.0.0.zip`, github(fixed('v1.0.0'))],
    [`${base}/archive/v1.0.0.tar.gz`, github(fixed('v1.0.0'))],
    [`${base}/archive/${SHA}.zip`, github(fixed(SHA))],
    [`${base}/archive/refs/heads/main.zip`, github(fixed('refs/heads/main'))],
    [`${base}/archive/refs/tags/v1.tar.gz`, github(fixed('refs/tags/v1'))],
  ])('%s', (url, address) => expect(readSourceUrl(url).address).toEqual(address))
})

describe('GitLab', () => {
  test.each([
    ['https://gitlab.com/group/app', gitlab(newest)],
    ['https://gitlab.com/group/sub/deeper/app', gitlab(newest, 'group/sub/deeper/app')],
    ['https://gitlab.com/group/app.git', gitlab(newest)],
    ['http://www.gitlab.com/group/app/', gitlab(newest)],
    ['https://gitlab.com/group/app/-/tree/main', gitlab(branch('main'))],
    ['https://gitlab.com/group/app/-/tree/main/folder', gitlab(branch('main', 'folder'))],
    ['https://gitlab.com/group/app/-/tree/main?ref_type=heads', gitlab(branch('main'))],
    [`https://gitlab.com/group/app/-/commit/${SHA}`, gitlab(fixed(SHA))],
    ['https://gitlab.com/group/app/-/tags/v1.0', gitlab(fixed('refs/tags/v1.0'))],
    ['https://gitlab.com/group/app/-/releases/v1.0', gitlab(fixed('refs/tags/v1.0'))],
    ['https://gitlab.com/group/app/-/archive/v1.0/app-v1.0.zip', gitlab(fixed('v1.0'))],
    ['https://gitlab.com/group/app/-/archive/v1.0.zip', gitlab(fixed('v1.0'))],
  ])('%s', (url, address) => expect(readSourceUrl(url).address).toEqual(address))
})

describe('npm', () => {
  test.each([
    ['https://www.npmjs.com/package/some-app', npm('some-app')],
    ['https://npmjs.com/package/some-app/', npm('some-app')],
    ['http://www.npmjs.com/package/some-app', npm('some-app')],
    ['https://www.npmjs.com/package/@scope/some-app', npm('@scope/some-app')],
    ['https://www.npmjs.com/package/%40scope%2Fsome-app', npm('@scope/some-app')],
    ['https://www.npmjs.com/package/@scope/some-app/v/1.2.3', npm('@scope/some-app', '1.2.3')],
    ['https://www.npmjs.com/package/some-app/v/1.2.3-beta.1', npm('some-app', '1.2.3-beta.1')],
    ['https://www.npmjs.com/package/some-app?activeTab=code', npm('some-app')],
  ])('%s', (url, address) => expect(readSourceUrl(url).address).toEqual(address))
})

describe('in one spelling, the token apart', () => {
  test.each([
    ['http://www.GitHub.com//a/b/?private_token=s3cret&x=1#top', 'https://github.com/a/b', 's3cret'],
    ['https://gitlab.com/a/b/-/tree/main/?private_token=s%2Bt', 'https://gitlab.com/a/b/-/tree/main', 's+t'],
    ['https://npmjs.com/package/x?private_token=', 'https://www.npmjs.com/package/x', null],
    ['https://github.com/a/b', 'https://github.com/a/b', null],
  ])('%s', (given, url, private_token) => {
    expect(readSourceUrl(given)).toMatchObject({ url, private_token })
  })
})

describe('no address of an app', () => {
  const base = 'https://github.com/a/b'
  test.each([
    '',
    'github.com/a/b',
    '//github.com/a/b',
    'a/b',
    'git@github.com:a/b.git',
    'ssh://git@github.com/a/b',
    'git://github.com/a/b',
    'ftp://github.com/a/b',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'inline:property-filter',
    'https://',
    'https:///github.com/a/b',
    'https:github.com/a/b',
    'https://github.com',
    'https://github.com/a',
    'https://example.com/a/b',
    'https://github.com.evil.example/a/b',
    'https://evilgithub.com/a/b',
    'https://github.com@evil.example/a/b',
    'https://evil.example#github.com/a/b',
    'https://evil.example?github.com/a/b',
    'https://evil.example\\@github.com/a/b',
    'https://github.com\\a\\b',
    'https://someone:s3cret@github.com/a/b',
    'https://someone@github.com/a/b',
    'https://github.com:8443/a/b',
    'https://github.com./a/b',
    'https://api.github.com/repos/a/b',
    'https://gist.github.com/a/b',
    'https://127.0.0.1/a/b',
    'https://[::1]/a/b',
    'https://www.www.github.com/a/b',
    'https://gıthub.com/a/b',
    'https://github.com/a/b c',
    'https://github.com/a/b\n',
    'https://github.com/a/\u0000b',
    'https://github.com/a/%00b',
    'https://github.com/../..',
    'https://github.com/a/..%2f..%2fb',
    'https://github.com/a/%2e%2e/b',
    'https://github.com/a/b%',
    'https://github.com/a/b%E0',
    'https://github.com/a%3fb/c',
    'https://github.com/ä/b',
    `${base}/tree`,
    `${base}/tree/feature..x`,
    `${base}/tree/main/%2e%2e%2fx`,
    `${base}/tree/ma%3fin`,
    `${base}/tree/%2e%2e`,
    `${base}/blob/main/index.js`,
    `${base}/commit/xyz`,
    `${base}/commit/${SHA}/x`,
    `${base}/releases`,
    `${base}/releases/latest`.replace('latest', 'tag/'),
    `${base}/releases/tag/..%2f..%2fx`,
    `${base}/archive/v1`,
    `${base}/archive/.zip`,
    `${base}/archive/../x.zip`,
    `${base}/pull/7`,
    `${base}/${'x/'.repeat(500)}`,
    'https://gitlab.com/group',
    'https://gitlab.com/group/app/-',
    'https://gitlab.com/-/x',
    'https://gitlab.com/group/app/-/issues/1',
    'https://www.npmjs.com/some-app',
    'https://www.npmjs.com/package',
    'https://www.npmjs.com/package/.hidden',
    'https://www.npmjs.com/package/@scope',
    'https://www.npmjs.com/package/@scope/a%2Fb',
    'https://www.npmjs.com/package/a/b',
    'https://www.npmjs.com/package/a/v',
    'https://www.npmjs.com/package/a/v/latest',
    'https://www.npmjs.com/package/a/v/1%2f2',
    'https://www.npmjs.com/package/a/v/1.0.0/x',
    `https://www.npmjs.com/package/${'a'.repeat(215)}`,
    'https://registry.npmjs.org/a',
  ])('%s', (url) => {
    // Blanks around an address are forgiven, so one at its end must come with something else.
    const given = url.endsWith('\n') ? `${url}x` : url
    const error = catchError(() => readSourceUrl(given))
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).body()).toMatchObject({
      type: 'validation_error',
      code: 'invalid_input',
      attr: 'url',
    })
    expect((error as ApiError).detail).not.toContain('s3cret')
  })
})

function catchError(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
