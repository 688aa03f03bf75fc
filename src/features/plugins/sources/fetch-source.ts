// From an address to an app's files: asks the service for the version, downloads its archive and keeps what is needed.
import type { Services } from '../../../platform/services.ts'
import type { Manifest } from '../manifest.ts'
import type { Files } from './archive.ts'
import { openDownload, type Download } from './download.ts'
import { pickFiles } from './pick-files.ts'
import { findVersion, type Version } from './providers.ts'
import { assertToken, readSourceUrl, type SourceAddress } from './source-url.ts'
import { openTarGz } from './tar.ts'
import { openZip } from './zip.ts'

export type FetchedSource = {
  /** Without its query string. */
  url: string
  tag: string | null
  manifest: Manifest
  /** By the names under which they are stored. */
  files: Map<string, string>
}

type Needed = Pick<Services, 'outbound' | 'settings'>

/** Throws 400 when the address or what it leads to is wrong, 503 when nobody can say. */
export async function fetchSource(
  services: Needed,
  source_url: string,
  private_token: string | null,
): Promise<FetchedSource> {
  const { url, address, download } = open(services, source_url, private_token)
  const version = await findVersion(address, download)
  const archive = await openArchive(version, download)
  const folder = address.provider === 'npm' ? null : address.place.folder
  return { url, tag: version.tag, ...(await pickFiles(archive, folder)) }
}

/** An address that names a version has no newer one. */
export async function findNewestTag(
  services: Needed,
  source_url: string,
  private_token: string | null,
): Promise<string> {
  const { address, download } = open(services, source_url, private_token)
  return (await findVersion(address, download)).tag
}

function open(
  { outbound, settings }: Needed,
  source_url: string,
  private_token: string | null,
): { url: string; address: SourceAddress; download: Download } {
  const { url, address, private_token: in_url } = readSourceUrl(source_url)
  const token = private_token ?? in_url ?? settings.plugin_source_tokens[address.provider]
  if (token !== null) assertToken(token)
  const authorize = (host: string) => {
    if (token === null) return null
    // The web site takes no bearer tokens, only its API does.
    return host === 'github.com' ? `token ${token}` : `Bearer ${token}`
  }
  return { url, address, download: openDownload(outbound, address.provider, authorize) }
}

async function openArchive({ archive_url, format }: Version, download: Download): Promise<Files> {
  const bytes = await download.archive(archive_url)
  return format === 'zip' ? await openZip(bytes) : await openTarGz(bytes)
}
