// Where a site app's script is found. A change of code or settings gives it another address, so that browsers may keep
// what they have for ever.
import { createHash } from 'node:crypto'
import type { SiteAppPlace } from './queries.ts'

export function siteAppPath(place: SiteAppPlace): string {
  return `/site_app/${place.id}/${place.web_token}/${siteAppHash(place)}/`
}

export function siteAppHash({
  config_updated_at,
  plugin_updated_at,
  file_updated_at,
}: Omit<SiteAppPlace, 'id' | 'web_token'>): string {
  const times = [plugin_updated_at, file_updated_at, config_updated_at].map((time) => time.toISOString())
  return createHash('md5').update(times.join('-')).digest('hex')
}
