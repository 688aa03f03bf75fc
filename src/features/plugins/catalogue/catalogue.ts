// What can be had: the apps of the server itself, and apps elsewhere, from a list of ours or from the one that the
// settings name. Whatever happens to the latter, there is an answer.
import type { Services } from '../../../platform/services.ts'
import { INLINE_APPS } from '../inline/index.ts'
import known from './catalogue.json' with { type: 'json' }
import { readEntries, type CatalogueEntry } from './entry.ts'

const FRESH_MS = 60 * 60 * 1000
const RETRY_MS = 60 * 1000
const TIME_LIMIT_MS = 5000
const MAX_BYTES = 2 * 1024 * 1024

type Needed = Pick<Services, 'settings' | 'outbound' | 'log' | 'now'>
/** The last list that could be read, and until when nobody asks again. */
type Copy = { entries: Promise<readonly CatalogueEntry[]>; until: number }

// By the settings of one application, for as long as it lives.
const copies = new WeakMap<Services['settings'], Copy>()

export async function listCatalogue(services: Needed): Promise<CatalogueEntry[]> {
  const url = services.settings.plugins_repository_url
  const elsewhere = url === null ? ownEntries() : await cachedEntries(services, url)
  return [...inlineEntries(), ...elsewhere]
}

function inlineEntries(): CatalogueEntry[] {
  return [...INLINE_APPS.values()].map(({ name, url, description }) => ({
    name,
    url,
    description,
    icon: null,
    verified: true,
    maintainer: 'official',
    type: 'transformation',
  }))
}

function ownEntries(): CatalogueEntry[] {
  return readEntries(known) ?? []
}

/** Those who ask while the list is fetched wait for the same answer. */
function cachedEntries(services: Needed, url: string): Promise<readonly CatalogueEntry[]> {
  const now = services.now().getTime()
  const last = copies.get(services.settings)
  if (last && now < last.until) return last.entries
  const copy: Copy = { entries: refresh(), until: now + FRESH_MS }
  async function refresh() {
    try {
      return await fetchEntries(services, url)
    } catch (error) {
      copy.until = now + RETRY_MS
      services.log.warn({ err: error }, 'the catalogue of plugins cannot be fetched')
      return (await last?.entries) ?? ownEntries()
    }
  }
  copies.set(services.settings, copy)
  return copy.entries
}

async function fetchEntries({ outbound }: Needed, url: string): Promise<CatalogueEntry[]> {
  const { status, body } = await outbound.fetch(url, {
    redirects: 3,
    timeout_ms: TIME_LIMIT_MS,
    max_bytes: MAX_BYTES,
  })
  if (status !== 200) throw new Error(`the answer has status ${status}`)
  const entries = readEntries(JSON.parse(body.toString()))
  if (entries === null) throw new Error('the answer is not a list')
  return entries
}
