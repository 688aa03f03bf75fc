// An entry of the catalogue, and how a list of them is read: one that is broken is left out, the others count.
import { z } from 'zod'
import { isStorableText } from '../../../platform/http/body.ts'
import { readSourceUrl } from '../sources/source-url.ts'

const MAX_ENTRIES = 1000

export type CatalogueEntry = {
  name: string
  /** As an installed plugin would have it. */
  url: string
  description: string | null
  icon: string | null
  verified: boolean
  maintainer: 'official' | 'community'
  type: string | null
}

const text = (max: number) => z.string().trim().min(1).max(max).refine(isStorableText)

const Entry = z.object({
  name: text(200),
  url: z.string().transform((url) => readSourceUrl(url).url),
  description: text(2000).nullable().catch(null),
  icon: text(800)
    .regex(/^https?:\/\//)
    .nullable()
    .catch(null),
  verified: z.boolean().catch(false),
  maintainer: z.enum(['official', 'community']).catch('community'),
  type: text(50).nullable().catch(null),
}) satisfies z.ZodType<CatalogueEntry>

/** Null for what is no list at all. */
export function readEntries(json: unknown): CatalogueEntry[] | null {
  if (!Array.isArray(json)) return null
  const entries = new Map<string, CatalogueEntry>()
  for (const given of json.slice(0, MAX_ENTRIES)) {
    const entry = readEntry(given)
    if (entry && !entries.has(entry.url)) entries.set(entry.url, entry)
  }
  return [...entries.values()]
}

function readEntry(given: unknown): CatalogueEntry | null {
  try {
    return Entry.parse(given)
  } catch {
    return null
  }
}
