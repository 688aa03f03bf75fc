// The script that a page loads: the app's code, called with those settings that pages may see.
import { readConfigSchema } from '../config-schema.ts'
import { valueOrDefault } from '../configs/settings.ts'
import type { SiteAppRow } from './queries.ts'

export function siteScript(row: Pick<SiteAppRow, 'id' | 'config' | 'config_schema' | 'transpiled'>): string {
  const config = asLiteral(siteConfig(row))
  return `${row.transpiled}().inject({config:${config},posthog:window['__$$ph_site_app_${row.id}']})`
}

function siteConfig({ config, config_schema }: Pick<SiteAppRow, 'config' | 'config_schema'>): object {
  const settings = new Map(Object.entries(config))
  const shown = readConfigSchema(config_schema).filter(
    ({ site, secret, type }) => site && !secret && type !== 'attachment',
  )
  return Object.fromEntries(shown.map((field) => [field.key, valueOrDefault(field, settings.get(field.key))]))
}

/** JSON that ends no script element, and no line of an old engine's. */
function asLiteral(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
