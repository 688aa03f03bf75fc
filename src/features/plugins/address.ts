// The plugin that a path names, with the right to do what the route does: 403 for what the organization or the caller
// may not do, 404 for what is not there, not to be seen, or not of the family.
import type { Db } from '../../platform/db/database.ts'
import type { OrganizationInReach } from '../../platform/http/access.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import type { Family } from './families.ts'
import { findVisiblePlugin, isUsedBeyond } from './queries.ts'
import type { PluginRow } from './rows.ts'
import { assertMayConfigure, assertMayInstall, assertMayRead, assertMaySeeSource } from './rules.ts'

type InPath = {
  services: Services
  db: Db
  caller: Caller
  organization: OrganizationInReach
  level: Level
}
type WithId = InPath & { params: { id: string } }

const MAX_ID = 2 ** 31 - 1

export async function assertReadable({ organization }: InPath): Promise<void> {
  assertMayRead(organization.plugins_access_level)
}

export async function assertInstallable({ services, organization, level }: InPath): Promise<void> {
  assertMayInstall(services.settings, organization.plugins_access_level, level)
}

/** Its code sees the events and the secrets of every project that it runs in, and without it they run without it. */
async function assertReachesUses({ db, caller, level }: InPath, row: PluginRow): Promise<void> {
  if (!(await isUsedBeyond(db, row, caller, level))) return
  throw denied(
    'The plugin is set up in a project that you have no access to: ask an admin of the organization to change it.',
  )
}

/** For each family the finders of its routes. */
export function addressIn(family: Family) {
  const getVisible = async ({ db, organization, params }: WithId): Promise<PluginRow> => {
    const id = /^\d{1,10}$/.test(params.id) && Number(params.id) <= MAX_ID ? Number(params.id) : null
    const row = id === null ? undefined : await findVisiblePlugin(db, organization.id, family, id)
    if (!row) throw notFound()
    return row
  }
  const getOwn = async (context: WithId): Promise<PluginRow> => {
    const row = await getVisible(context)
    if (row.organization_id !== context.organization.id) throw notFound()
    return row
  }
  return {
    async toRead(context: WithId): Promise<PluginRow> {
      await assertReadable(context)
      return getVisible(context)
    },

    async toTest(context: WithId): Promise<PluginRow> {
      const { services, organization, level } = context
      assertMayConfigure(services.settings, organization.plugins_access_level, level)
      return getVisible(context)
    },

    /** A plugin of another organization is refused, not hidden: the caller can see it. */
    async toChange(context: WithId): Promise<PluginRow> {
      await assertInstallable(context)
      const row = await getVisible(context)
      if (row.organization_id !== context.organization.id) {
        throw denied('The plugin belongs to another organization.')
      }
      await assertReachesUses(context, row)
      return row
    },

    async toSeeSource(context: WithId): Promise<PluginRow> {
      assertMaySeeSource(context.organization.plugins_access_level)
      return getOwn(context)
    },

    async toReplaceCode(context: WithId): Promise<PluginRow> {
      await assertInstallable(context)
      const row = await getOwn(context)
      await assertReachesUses(context, row)
      return row
    },
  }
}
