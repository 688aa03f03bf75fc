// How the services that keep code are asked: for the newest version, and for an archive of one.
import { isObject } from '../../../lib/json-object.ts'
import type { Download } from './download.ts'
import { badSource, sourceUnavailable } from './faults.ts'
import type { Place, SourceAddress } from './source-url.ts'

/** The version to install, and what the service calls it. */
export type Version = { tag: string; archive_url: string; format: 'zip' | 'tar.gz' }

export async function findVersion(address: SourceAddress, download: Download): Promise<Version> {
  switch (address.provider) {
    case 'github': {
      const { project, place } = address
      const { ref, tag } = await resolve(place, () => newestOnGitHub(project, place, download))
      return {
        tag,
        archive_url: `https://github.com/${project}/archive/${encodePath(ref)}.zip`,
        format: 'zip',
      }
    }
    case 'gitlab': {
      const { project, place } = address
      const api = `https://gitlab.com/api/v4/projects/${encodeURIComponent(project)}/repository`
      const { ref, tag } = await resolve(place, () => newestOnGitLab(api, place, download))
      // The API wants tags by their bare names.
      return {
        tag,
        archive_url: `${api}/archive.zip?sha=${encodeURIComponent(ref.replace('refs/tags/', ''))}`,
        format: 'zip',
      }
    }
    case 'npm': {
      const { name } = address
      const version = address.version ?? (await latestOnNpm(name, download))
      const file = `${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
      return {
        tag: version,
        archive_url: `https://registry.npmjs.org/${encodePath(name)}/-/${encodeURIComponent(file)}`,
        format: 'tar.gz',
      }
    }
  }
}

async function resolve(place: Place, newest: () => Promise<string>): Promise<{ ref: string; tag: string }> {
  if (place.kind === 'fixed') return place
  const sha = await newest()
  return { ref: sha, tag: sha }
}

async function newestOnGitHub(project: string, place: Place, download: Download): Promise<string> {
  const query = searchFor(place, { branch: 'sha', folder: 'path' })
  const commits = await download.json(`https://api.github.com/repos/${project}/commits?${query}`)
  return shaOf(commits, 'sha')
}

async function newestOnGitLab(api: string, place: Place, download: Download): Promise<string> {
  const query = searchFor(place, { branch: 'ref_name', folder: 'path' })
  return shaOf(await download.json(`${api}/commits?${query}`), 'id')
}

function searchFor(place: Place, names: { branch: string; folder: string }): string {
  const query = new URLSearchParams({ per_page: '1' })
  if (place.kind === 'branch' && place.branch !== null) query.set(names.branch, place.branch)
  if (place.folder !== null) query.set(names.folder, place.folder)
  return query.toString()
}

function shaOf(commits: unknown, field: 'sha' | 'id'): string {
  if (!Array.isArray(commits)) throw sourceUnavailable('The newest version cannot be told from the answer.')
  if (commits.length === 0) throw badSource('The repository has nothing at this place.')
  const first: unknown = commits[0]
  const sha = isObject(first) ? first[field] : undefined
  if (typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha)) return sha
  throw sourceUnavailable('The newest version cannot be told from the answer.')
}

async function latestOnNpm(name: string, download: Download): Promise<string> {
  const latest = await download.json(`https://registry.npmjs.org/${name.replace('/', '%2f')}/latest`)
  const version = isObject(latest) ? latest.version : undefined
  if (typeof version === 'string' && /^\d[0-9A-Za-z.+-]{0,100}$/.test(version)) return version
  throw sourceUnavailable('The newest version cannot be told from the answer.')
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')
