// The catalogue as the API shows it: every entry looks like a plugin, and is one once it is installed.
import type { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import { listCatalogue } from '../catalogue/catalogue.ts'
import type { CatalogueEntry } from '../catalogue/entry.ts'
import { presentPlugin } from '../present.ts'
import { listInstalled } from '../queries.ts'
import type { PluginRow } from '../rows.ts'
import type { OfferedPlugin } from '../schema.ts'

type Offer = z.input<typeof OfferedPlugin>

export async function listOffers(services: Services, db: Db, organization_id: string): Promise<Offer[]> {
  const entries = await listCatalogue(services)
  const urls = entries.map(({ url }) => url)
  const installed = new Map(
    (await listInstalled(db, organization_id, urls)).map((row) => [row.url, row] as const),
  )
  return entries.map((entry) => presentOffer(entry, installed.get(entry.url)))
}

const NOT_INSTALLED = {
  id: null,
  config_schema: {},
  tag: null,
  latest_tag: null,
  is_global: false,
  organization_id: null,
  organization_name: null,
  capabilities: {},
  metrics: {},
  public_jobs: {},
  errors: [],
}

function presentOffer(entry: CatalogueEntry, installed: PluginRow | undefined): Offer {
  return { ...(installed ? presentPlugin(installed) : NOT_INSTALLED), ...entry, plugin_type: 'repository' }
}
