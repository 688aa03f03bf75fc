// A new plugin: fetched and looked at first, where it comes from somewhere, then stored in one transaction.
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { lockOrganization } from '../organizations/queries.ts'
import { recordPluginActivity } from './activity.ts'
import type { PluginChange } from './change.ts'
import { readCode, storeFiles, type ReadCode } from './code.ts'
import { fieldColumns, manifestColumns } from './columns.ts'
import type { Family } from './families.ts'
import { isLocalUrl, sealToken } from './origin.ts'
import {
  countOwnPlugins,
  getOwnPlugin,
  hasPluginFrom,
  insertPlugin,
  setPrivateToken,
  type PluginColumns,
} from './queries.ts'
import { assertMayShare, assertRoom } from './rules.ts'
import type { PluginRow, PluginType } from './rows.ts'
import type { PluginCreate } from './schema.ts'
import { fetchSource, type FetchedSource } from './sources/fetch-source.ts'
import { readLocalSource } from './sources/local.ts'
import { readSourceUrl } from './sources/source-url.ts'

export async function createPlugin(
  change: PluginChange,
  family: Family,
  { url, ...fields }: PluginCreate,
): Promise<PluginRow> {
  const { services, db, organization, caller, now } = change
  if (fields.is_global) assertMayShare(organization.plugins_access_level, caller)
  const given = fieldColumns(fields)
  // A local app without a folder is refused as one whose folder is not there.
  const isInstall = url || given.plugin_type === 'local'
  const install = isInstall ? await readInstall(services, url || 'file:') : null
  return db.transaction(async (tx) => {
    // Two at once must not both be the last there is room for, nor both come from one address.
    await lockOrganization(tx, organization.id, 'change')
    assertRoom(await countOwnPlugins(tx, organization.id))
    if (install && (await hasPluginFrom(tx, organization.id, install.source.url))) {
      throw invalid('url', 'invalid_input', 'The organization has installed this plugin already.')
    }
    const id = await insertPlugin(tx, {
      ...newRow(change, family),
      ...given,
      ...(install ? installedColumns(install, given.plugin_type, now) : {}),
    })
    if (install?.private_token) {
      await setPrivateToken(tx, organization.id, id, sealToken(services.secrets, id, install.private_token))
    }
    if (install) await storeFiles(tx, id, [], install.code.files, now)
    const row = await getOwnPlugin(tx, organization.id, id)
    await recordPluginActivity(tx, change, row, { activity: 'installed' })
    await services.changes.tell(tx, 'plugin', id)
    return row
  })
}

type Install = { source: FetchedSource; code: ReadCode; private_token: string | null }

async function readInstall(services: Services, given: string): Promise<Install> {
  const isLocal = isLocalUrl(given)
  const source = isLocal
    ? await readLocalSource(services.settings, given.split('?')[0]!)
    : await fetchSource(services, given, null)
  return {
    source,
    code: await readCode(services.sandbox, source.files),
    private_token: isLocal ? null : readSourceUrl(given).private_token,
  }
}

function newRow({ organization, now }: PluginChange, family: Family): PluginColumns {
  return {
    organization_id: organization.id,
    plugin_type: 'source',
    name: 'Unnamed plugin',
    description: null,
    url: null,
    icon: null,
    config_schema: {},
    tag: null,
    latest_tag: null,
    latest_tag_checked_at: null,
    is_global: false,
    capabilities: {},
    metrics: {},
    public_jobs: {},
    created_via_family: family,
    errors: [],
    removes: false,
    created_at: now,
    updated_at: now,
  }
}

/** What was fetched speaks for itself, whatever the client said. */
function installedColumns(
  { source, code }: Install,
  asked: PluginType | undefined,
  now: Date,
): Partial<PluginColumns> {
  const { url, tag, manifest } = source
  return {
    capabilities: {},
    metrics: {},
    ...manifestColumns(manifest),
    ...code.columns,
    plugin_type: isLocalUrl(url) ? 'local' : asked === 'repository' ? 'repository' : 'custom',
    url,
    tag,
    latest_tag: tag,
    latest_tag_checked_at: tag === null ? null : now,
  }
}
