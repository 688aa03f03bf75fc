// GitHub, GitLab and npm on loopback: the few calls that installing an app makes, and strict about them. The application
// reaches it through `outbound`, which sends `https://<host>/<path>` as `/<host>/<path>` to this server by the real gate:
// limits of size and time are the real ones, only names and TLS are not.
import { createTar } from 'nanotar'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { openOutbound, type Outbound } from '../../src/platform/outbound/outbound.ts'
import { zipFile } from './zip-file.ts'

export type Commit = { sha: string; branch?: string; files: Record<string, string> }

export type Repository = {
  /** Oldest first. */
  commits: Commit[]
  /** Tag by the commit it marks. */
  tags?: Record<string, string>
  private_token?: string
  /** Sent in place of an archive of the files. */
  archive?: Buffer
}

export type Package = {
  /** Oldest first. */
  versions: Record<string, Record<string, string>>
  private_token?: string
  archive?: Buffer
}

export type Answer = (response: ServerResponse) => void

export type CodeHost = {
  /** For `services.outbound`. */
  outbound: Outbound
  github: Map<string, Repository>
  gitlab: Map<string, Repository>
  npm: Map<string, Package>
  /** `<host><path>` and the authorization of every request so far. */
  requests: { target: string; authorization: string | null }[]
  /** How the next requests are answered, one each, whatever they ask. */
  answerNext(...answers: Answer[]): void
  close(): Promise<void>
}

type Reply = { status: number; headers?: Record<string, string>; body?: unknown }

const MISSING: Reply = { status: 404, body: { message: 'Not Found' } }
const bad = (message: string): Reply => ({ status: 400, body: { message: `stand-in: ${message}` } })

export async function startCodeHost(): Promise<CodeHost> {
  const github = new Map<string, Repository>()
  const gitlab = new Map<string, Repository>()
  const npm = new Map<string, Package>()
  const requests: CodeHost['requests'] = []
  const answers: Answer[] = []

  const reply = (host: string, url: URL, authorization: string | null): Reply => {
    switch (host) {
      case 'api.github.com':
      case 'github.com':
      case 'codeload.github.com':
        return replyAsGitHub(github, host, url, authorization)
      case 'gitlab.com':
        return replyAsGitLab(gitlab, url, authorization)
      case 'registry.npmjs.org':
        return replyAsNpm(npm, url, authorization)
      default:
        return bad(`no such host: ${host}`)
    }
  }
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const target = (request.url ?? '').slice(1)
    const authorization = request.headers.authorization ?? null
    requests.push({ target, authorization })
    const scripted = answers.shift()
    if (scripted) return scripted(response)
    const host = target.slice(0, target.indexOf('/'))
    const { status, headers, body } =
      request.method === 'GET'
        ? reply(host, new URL(`https://${target}`), authorization)
        : bad(`not a GET: ${request.method}`)
    response.writeHead(status, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? null))
  }
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const gate = openOutbound({ allow: ['127.0.0.1'] })
  return {
    outbound: {
      ...gate,
      fetch(address, init) {
        const { protocol, host, pathname, search } = new URL(address)
        if (protocol !== 'https:') throw new Error(`${protocol} is no way to ask for code`)
        return gate.fetch(`http://127.0.0.1:${port}/${host}${pathname}${search}`, init)
      },
    },
    github,
    gitlab,
    npm,
    requests,
    answerNext: (...next) => void answers.push(...next),
    async close() {
      server.closeAllConnections()
      server.close()
      await gate.close()
    },
  }
}

function replyAsGitHub(
  repositories: CodeHost['github'],
  host: string,
  url: URL,
  authorization: string | null,
): Reply {
  const path = decodeURIComponent(url.pathname)
  const [, project = '', rest = ''] = /^(?:\/repos)?\/([^/]+\/[^/]+)\/(.*)$/.exec(path) ?? []
  const repository = repositories.get(project)
  if (!repository) return MISSING
  const name = project.slice(project.indexOf('/') + 1)
  const isOpenTo = (given: string | null) =>
    repository.private_token === undefined || given === repository.private_token
  if (host === 'api.github.com') {
    if (rest !== 'commits' || !path.startsWith('/repos/')) return bad(`no such call: ${path}`)
    if (!isOpenTo(tokenOf(authorization, 'Bearer'))) return MISSING
    return replyWithCommits(repository, url, { branch: 'sha', id: 'sha' })
  }
  if (host === 'github.com') {
    const ref = /^archive\/(.+)\.zip$/.exec(rest)?.[1]
    if (ref === undefined) return bad(`no such page: ${path}`)
    if (!isOpenTo(tokenOf(authorization, 'token'))) return MISSING
    const pass = repository.private_token === undefined ? '' : '?token=PASS'
    const location = `https://codeload.github.com/${project}/zip/${ref}${pass}`
    return { status: 302, headers: { location } }
  }
  if (authorization !== null) return bad('a token that was meant for another host')
  if (repository.private_token !== undefined && url.search !== '?token=PASS') return MISSING
  return replyWithArchive(repository, name, rest.replace(/^zip\//, ''))
}

function replyAsGitLab(repositories: CodeHost['gitlab'], url: URL, authorization: string | null): Reply {
  const [, id = '', call = ''] = /^\/api\/v4\/projects\/([^/]+)\/repository\/(.*)$/.exec(url.pathname) ?? []
  const project = decodeURIComponent(id)
  const repository = repositories.get(project)
  const token = tokenOf(authorization, 'Bearer')
  if (!repository || (repository.private_token !== undefined && repository.private_token !== token)) {
    return MISSING
  }
  if (call === 'commits') return replyWithCommits(repository, url, { branch: 'ref_name', id: 'id' })
  if (call !== 'archive.zip') return bad(`no such call: ${url.pathname}`)
  const unknown = unknownParameter(url, ['sha'])
  const name = project.slice(project.lastIndexOf('/') + 1)
  return unknown ?? replyWithArchive(repository, name, url.searchParams.get('sha') ?? '')
}

function replyAsNpm(packages: CodeHost['npm'], url: URL, authorization: string | null): Reply {
  const path = decodeURIComponent(url.pathname).slice(1)
  const name = [...packages.keys()].find((known) => path.startsWith(`${known}/`)) ?? ''
  const found = packages.get(name)
  const token = tokenOf(authorization, 'Bearer')
  if (!found || (found.private_token !== undefined && found.private_token !== token)) return MISSING
  const call = path.slice(name.length + 1)
  if (call === 'latest') {
    // As npm has it: the slash of a scope is encoded, or the version would be looked for in a package of the scope.
    if (name.includes('/') && !/^\/@[^/]+%2F[^/]+\/latest$/i.test(url.pathname)) return MISSING
    return { status: 200, body: { name, version: Object.keys(found.versions).at(-1) } }
  }
  const bare = name.slice(name.indexOf('/') + 1)
  const version = Object.keys(found.versions).find((known) => call === `-/${bare}-${known}.tgz`)
  if (version === undefined) return MISSING
  return { status: 200, body: found.archive ?? tarball(found.versions[version]!) }
}

function replyWithCommits(
  repository: Repository,
  url: URL,
  names: { branch: 'sha' | 'ref_name'; id: 'sha' | 'id' },
): Reply {
  const unknown = unknownParameter(url, ['per_page', names.branch, 'path'])
  if (unknown) return unknown
  if (url.searchParams.get('per_page') !== '1') return bad('asks for more than it needs')
  const branch = url.searchParams.get(names.branch) ?? 'main'
  const path = url.searchParams.get('path')
  const onBranch = repository.commits.filter((commit) => (commit.branch ?? 'main') === branch)
  if (onBranch.length === 0) return MISSING
  const newest = onBranch.findLast(
    ({ files }) => path === null || Object.keys(files).some((name) => name.startsWith(`${path}/`)),
  )
  return { status: 200, body: newest ? [{ [names.id]: newest.sha }] : [] }
}

function replyWithArchive(repository: Repository, name: string, ref: string): Reply {
  if (repository.archive) return { status: 200, body: repository.archive }
  const sha = repository.tags?.[ref.replace(/^refs\/tags\//, '')] ?? ref
  const commit = repository.commits.find((known) => known.sha === sha || known.branch === sha)
  if (!commit) return MISSING
  const top = `${name}-${ref.replaceAll('/', '-')}`
  const entries = Object.entries(commit.files).map(([path, content]) => ({ name: `${top}/${path}`, content }))
  return { status: 200, body: zipFile([{ name: `${top}/`, mode: 0o040755 }, ...entries]) }
}

export function tarball(files: Record<string, string>): Buffer {
  const entries = Object.entries(files).map(([path, data]) => ({ name: `package/${path}`, data }))
  return gzipSync(createTar(entries))
}

function unknownParameter(url: URL, known: readonly string[]): Reply | null {
  const unknown = [...url.searchParams.keys()].find((name) => !known.includes(name))
  return unknown === undefined ? null : bad(`unknown parameter: ${unknown}`)
}

function tokenOf(authorization: string | null, scheme: 'Bearer' | 'token'): string | null {
  return authorization?.startsWith(`${scheme} `) ? authorization.slice(scheme.length + 1) : null
}
