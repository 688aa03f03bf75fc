// Lists about the plugins of a family: what happened to them, what would stop with them, what is on offer, what is idle.
import { sql } from '../../../platform/db/sql.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { isEntryReachable } from '../../projects/access.ts'
import { isAboutFamily } from '../activity.ts'
import { ActivityPage, ActivityPageQuery, readActivityPage } from '../../activity-log/activity-page.ts'
import { assertReadable } from '../address.ts'
import type { Family } from '../families.ts'
import { presentPlugin } from '../present.ts'
import { countPlugins, listPlugins } from '../queries.ts'
import * as schema from '../schema.ts'
import { ExportingConfigs, listExporting } from './exporting-configs.ts'
import { listOffers } from './offers.ts'

export function pluginListRoutes(family: Family) {
  const base = `/api/organizations/:organization_id/${family}/` as const
  return [
    route({
      method: 'GET',
      path: `${base}activity/`,
      summary: 'What was done to plugins and their configs, newest first',
      scope: ['plugin:read', 'activity_log:read'],
      level: 'member',
      item: assertReadable,
      query: ActivityPageQuery,
      answers: { 200: ActivityPage },
      handle: async ({ db, caller, organization: { id }, level, query, request }) =>
        ok(
          await readActivityPage(
            db,
            { organization_id: id },
            { only: sql`${isAboutFamily(id, family)} AND ${isEntryReachable(caller, level)}` },
            query,
            request,
          ),
        ),
    }),

    route({
      method: 'GET',
      path: `${base}exports_unsubscribe_configs/`,
      summary: 'Configs that are switched on and need data pipelines',
      scope: 'plugin:read',
      level: 'member',
      item: assertReadable,
      query: schema.FormattedPageQuery,
      answers: { 200: ExportingConfigs },
      async handle(context) {
        const { count, configs } = await listExporting(context, family)
        return ok(schema.isPostHogFormat(context.query) ? configs : context.paged(count, configs))
      },
    }),

    route({
      method: 'GET',
      path: `${base}repository/`,
      summary: 'Plugins that can be installed',
      scope: 'plugin:read',
      level: 'member',
      item: assertReadable,
      query: schema.FormattedPageQuery,
      answers: { 200: schema.listOrPage(schema.OfferedPlugin) },
      async handle({ services, db, organization, query, page, paged }) {
        const offers = await listOffers(services, db, organization.id)
        if (schema.isPostHogFormat(query)) return ok(offers)
        return ok(paged(offers.length, offers.slice(page.offset, page.offset + page.limit)))
      },
    }),

    route({
      method: 'GET',
      path: `${base}unused/`,
      summary: 'Plugins of the organization that are switched on nowhere',
      scope: 'plugin:read',
      level: 'member',
      item: assertReadable,
      query: schema.FormattedPageQuery,
      answers: { 200: schema.UnusedPlugins },
      async handle({ db, organization, query, page, paged }) {
        const set = { organization_id: organization.id, family, only: 'unused' as const }
        const rows = await listPlugins(db, set, page)
        return ok(
          schema.isPostHogFormat(query)
            ? rows.map(({ id }) => id)
            : paged(await countPlugins(db, set), rows.map(presentPlugin)),
        )
      },
    }),
  ]
}
