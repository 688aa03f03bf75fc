// The catalogue as one list: what comes with the server, what the organization has, what can be fetched.
import type { Schema } from '../api/client'
import type { Config, Plugin } from './queries'

export type Offer = {
  key: string
  /** Null until it is installed. */
  id: number | null
  url: string | null
  name: string
  description: string
  from: string
  /** How often the project has it already. */
  uses: number
}

export function offersOf(
  plugins: readonly Plugin[],
  catalogue: readonly Schema<'OfferedPlugin'>[],
  apps: readonly Pick<Config, 'plugin'>[],
): Offer[] {
  const here = plugins.map((plugin) => ({
    key: `plugin ${plugin.id}`,
    id: plugin.id,
    url: plugin.url,
    name: plugin.name ?? 'Unnamed app',
    description: plugin.description ?? '',
    from:
      plugin.plugin_type === 'inline'
        ? 'Built in'
        : plugin.is_global
          ? plugin.organization_name
          : placeOf(plugin.url),
    uses: apps.filter((app) => app.plugin === plugin.id).length,
  }))
  const elsewhere = catalogue
    // What comes with the server is there, or is not to be had.
    .filter(({ id, url }) => id === null && url?.startsWith('inline:') !== true)
    .map(({ url, name, description }) => ({
      key: `offer ${url}`,
      id: null,
      url,
      name: name ?? url ?? '',
      description: description ?? '',
      from: placeOf(url),
      uses: 0,
    }))
  return [...here, ...elsewhere].toSorted((one, other) => one.name.localeCompare(other.name))
}

function placeOf(url: string | null): string {
  if (url === null) return 'Written here'
  if (url.startsWith('file:')) return 'Folder of the server'
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : ''
  return { 'github.com': 'GitHub', 'gitlab.com': 'GitLab', 'npmjs.com': 'npm' }[host] ?? host
}
