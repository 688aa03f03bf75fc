// The addresses apps are installed from, as people copy them out of a browser.
import { badSource } from './faults.ts'

export type Provider = 'github' | 'gitlab' | 'npm'

/** Which version a repository's address means. */
export type Place =
  | { kind: 'branch'; branch: string | null; folder: string | null }
  /** Never moves. `tag` is what the plugin shows as its version. */
  | { kind: 'fixed'; ref: string; tag: string; folder: string | null }

export type SourceAddress =
  | { provider: 'github'; project: string; place: Place }
  | { provider: 'gitlab'; project: string; place: Place }
  | { provider: 'npm'; name: string; version: string | null }

export type SourceUrl = {
  /** In one spelling, without query string: what is stored, shown and compared. */
  url: string
  private_token: string | null
  address: SourceAddress
}

const MAX_LENGTH = 800
const HOSTS: ReadonlyMap<string, Provider> = new Map([
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['npmjs.com', 'npm'],
])

const NAME = /^[A-Za-z0-9_.-]{1,100}$/
const REF = /^[A-Za-z0-9_.@+~-]{1,200}$/
const FOLDER = /^[\w.@+~ -]{1,200}$/
const SHA = /^[0-9a-f]{40}$/i
const NPM_NAME = /^(@[a-z0-9~_-][a-z0-9._~-]*\/)?[a-z0-9~_-][a-z0-9._~-]*$/i
const NPM_VERSION = /^\d[0-9A-Za-z.+-]{0,100}$/
/** Blanks, backslashes, control characters, and segments of dots, encoded or not. */
const NEEDS_REPAIR = /[\s\\\p{Cc}]|\/(?:\.|%2e){1,2}(?:[/?#]|$)/iu
const TOKEN = /^[\x21-\x7e]{1,500}$/

/** 400 for whatever is no address of an app. The token is never repeated. */
export function readSourceUrl(text: string): SourceUrl {
  const given = parse(text.trim())
  const host = given.hostname.replace(/^www\./, '')
  const provider = HOSTS.get(host)
  if (!provider) throw notAnAddress()
  const segments = readSegments(given.pathname)
  const address = readAddress(provider, segments)
  if (!address) throw notAnAddress()
  return {
    url: `https://${provider === 'npm' ? 'www.' : ''}${host}/${given.pathname.split('/').filter(Boolean).join('/')}`,
    private_token: given.searchParams.get('private_token') || null,
    address,
  }
}

function parse(text: string): URL {
  // The URL parser would repair these silently, and another reader in another way.
  if (text.length > MAX_LENGTH || NEEDS_REPAIR.test(text) || !/^https?:\/\/[^/]/i.test(text)) {
    throw notAnAddress()
  }
  if (!URL.canParse(text)) throw notAnAddress()
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.port !== '') throw notAnAddress()
  return url
}

function readSegments(path: string): string[] {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    throw notAnAddress()
  }
}

/** What goes into a header. */
export function assertToken(token: string): void {
  if (!TOKEN.test(token)) throw badSource('The private token has characters that no token has.')
}

function readAddress(provider: Provider, segments: readonly string[]): SourceAddress | null {
  switch (provider) {
    case 'github':
      return readGitHub(segments)
    case 'gitlab':
      return readGitLab(segments)
    case 'npm':
      return readNpm(segments)
  }
}

function readGitHub([user = '', repository = '', ...rest]: readonly string[]): SourceAddress | null {
  const project = readProject([user, repository])
  const place = project === null ? null : readPlace(rest)
  return project !== null && place ? { provider: 'github', project, place } : null
}

function readGitLab(segments: readonly string[]): SourceAddress | null {
  const dash = segments.indexOf('-')
  const project = readProject(dash === -1 ? segments : segments.slice(0, dash))
  const rest = dash === -1 ? [] : segments.slice(dash + 1)
  if (project === null || (dash !== -1 && rest.length === 0)) return null
  // GitLab names the file after the ref once more: /-/archive/<ref>/<project>-<ref>.zip
  const [kind, ...where] = rest
  const place =
    kind === 'archive' && where.length > 1 ? readPlace([kind, `${where[0]}.zip`]) : readPlace(rest)
  return place && { provider: 'gitlab', project, place }
}

function readNpm([first, ...rest]: readonly string[]): SourceAddress | null {
  if (first !== 'package') return null
  const length = rest[0]?.startsWith('@') && !rest[0].includes('/') ? 2 : 1
  const name = rest.slice(0, length).join('/')
  const [marker, version, ...more] = rest.slice(length)
  if (name.length > 214 || !NPM_NAME.test(name)) return null
  if (marker === undefined) return { provider: 'npm', name, version: null }
  if (marker !== 'v' || version === undefined || !NPM_VERSION.test(version) || more.length > 0) return null
  return { provider: 'npm', name, version }
}

function readProject(segments: readonly string[]): string | null {
  if (segments.length < 2 || segments.length > 20) return null
  const last = segments.at(-1)!.replace(/\.git$/, '')
  const names = [...segments.slice(0, -1), last]
  return names.every((name) => NAME.test(name) && !isDots(name)) ? names.join('/') : null
}

function readPlace([kind, ...where]: readonly string[]): Place | null {
  switch (kind) {
    case undefined:
      return { kind: 'branch', branch: null, folder: null }
    case 'tree':
      return readTree(where)
    case 'commit':
      return where.length === 1 && /^[0-9a-f]{7,40}$/i.test(where[0]!) ? fixed(where[0]!.toLowerCase()) : null
    case 'releases':
      // GitHub says /releases/tag/<tag>, GitLab /-/releases/<tag>.
      return readTag(where[0] === 'tag' ? where.slice(1) : where)
    case 'tags':
      return readTag(where)
    case 'archive': {
      const ref = readRef(where)
      const bare = ref?.replace(/\.(zip|tar\.gz)$/, '')
      return bare === undefined || bare === '' || bare === ref ? null : fixed(bare)
    }
    default:
      return null
  }
}

function readTree([ref = '', ...folders]: readonly string[]): Place | null {
  if (!isRefPart(ref) || !folders.every((name) => FOLDER.test(name) && !isDots(name))) return null
  const folder = folders.length === 0 ? null : folders.join('/')
  return SHA.test(ref) ? fixed(ref.toLowerCase(), folder) : { kind: 'branch', branch: ref, folder }
}

function readTag(segments: readonly string[]): Place | null {
  const tag = readRef(segments)
  return tag === null
    ? null
    : { kind: 'fixed', ref: `refs/tags/${tag}`, tag: `refs/tags/${tag}`, folder: null }
}

/** Tags may have slashes, written as they are or as %2F. */
function readRef(segments: readonly string[]): string | null {
  const parts = segments.join('/').split('/')
  return parts.every(isRefPart) ? parts.join('/') : null
}

const fixed = (ref: string, folder: string | null = null): Place => ({ kind: 'fixed', ref, tag: ref, folder })
const isRefPart = (part: string) => REF.test(part) && !part.includes('..') && part !== '.'
const isDots = (name: string) => name === '.' || name === '..'

const notAnAddress = () =>
  badSource('This is not the address of an app: give a repository on GitHub or GitLab, or a package on npm.')
