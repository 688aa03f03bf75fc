// Plugins in projects: the same calls below both names of a project and for the current one, on all configs and on those
// of each family.
import { z } from 'zod'
import { sql } from '../../../platform/db/sql.ts'
import { notFound } from '../../../platform/http/errors.ts'
import { paged, PageQuery } from '../../../platform/http/paging.ts'
import { created, noContent, ok, ready, route } from '../../../platform/http/route.ts'
import { ActivityPage, ActivityPageQuery, readActivityPage } from '../../activity-log/activity-page.ts'
import type { Family } from '../families.ts'
import { changeConfig, deleteConfig } from './change.ts'
import { createConfig } from './create.ts'
import { FRONTEND_TYPE, frontendModule } from './frontend.ts'
import { CONFIG_BASES, type ConfigBase } from './paths.ts'
import { getAddressed, reachConfigs, reachToConfigure, type InPath } from './place.ts'
import { presentConfig, presentConfigs } from './present.ts'
import { countConfigs, listConfigs, listEnabledConfigs } from './queries.ts'
import { rearrangeConfigs } from './rearrange.ts'
import { ConfigCreate, ConfigUpdate, JobRequest, PluginConfig, Rearrangement } from './schema.ts'
import { startJob } from './start-job.ts'

const MAX_FORM_BYTES = 12 * 1024 * 1024

export const pluginConfigRoutes = CONFIG_BASES.flatMap(({ base, family }) => configRoutesAt(base, family))

function configRoutesAt(base: ConfigBase, family: Family) {
  type Asked = InPath & { params: { id: string } }
  const toRead = async (context: Asked) =>
    getAddressed(context.db, await reachConfigs(context), family, context.params.id)
  const toChange = async (context: Asked) =>
    getAddressed(context.db, await reachToConfigure(context), family, context.params.id)

  return [
    route({
      method: 'GET',
      path: `${base}/`,
      summary: 'List plugin configs, in the order in which they run',
      scope: 'plugin:read',
      level: 'member',
      item: reachConfigs,
      query: PageQuery,
      answers: { 200: paged(PluginConfig) },
      async handle(context) {
        const { db, item, page, paged } = context
        const set = { project_id: item.project.id, family }
        const rows = await listConfigs(db, set, page)
        return ok(paged(await countConfigs(db, set), await presentConfigs(context, item.project.id, rows)))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/`,
      summary: 'Give a plugin to the project, with its settings',
      scope: 'plugin:write',
      level: 'member',
      item: reachToConfigure,
      body: ConfigCreate,
      examples: { 'Switch an app on': { plugin: 1, enabled: true, order: 1, config: { field: 'ssn' } } },
      max_body_bytes: MAX_FORM_BYTES,
      takes_files: true,
      answers: { 201: PluginConfig },
      async handle(context) {
        const { item, body } = context
        return created(await presentConfig(context, await createConfig(context, item, family, body)))
      },
    }),

    route({
      method: 'PATCH',
      path: `${base}/rearrange/`,
      summary: 'Change the order of plugin configs; answers with all that are switched on',
      scope: 'plugin:write',
      level: 'member',
      item: reachToConfigure,
      body: Rearrangement,
      examples: { 'First 7, then 4': { orders: { '7': 1, '4': 2 } } },
      answers: { 200: z.array(PluginConfig) },
      async handle(context) {
        const { db, item, body } = context
        const set = { project_id: item.project.id, family }
        await rearrangeConfigs(context, item, set, body.orders)
        return ok(await presentConfigs(context, item.project.id, await listEnabledConfigs(db, set)))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/:id/`,
      summary: 'One plugin config; also one that was deleted',
      scope: 'plugin:read',
      level: 'member',
      item: toRead,
      answers: { 200: PluginConfig },
      handle: async (context) => ok(await presentConfig(context, context.item)),
    }),

    route({
      method: 'PATCH',
      path: `${base}/:id/`,
      summary: 'Change a plugin config; its settings are replaced as a whole, except secrets',
      scope: 'plugin:write',
      level: 'member',
      item: toChange,
      body: ConfigUpdate,
      examples: { 'Switch it off': { enabled: false }, 'Change a setting': { config: { field: 'iban' } } },
      max_body_bytes: MAX_FORM_BYTES,
      takes_files: true,
      answers: { 200: PluginConfig },
      async handle(context) {
        const { item, body } = context
        return ok(await presentConfig(context, await changeConfig(context, item, body)))
      },
    }),

    route({
      method: 'DELETE',
      path: `${base}/:id/`,
      summary: 'Delete a plugin config, which switches it off',
      scope: 'plugin:write',
      level: 'member',
      item: toChange,
      answers: { 204: null },
      async handle(context) {
        await deleteConfig(context, context.item)
        return noContent()
      },
    }),

    route({
      method: 'GET',
      path: `${base}/:id/frontend/`,
      summary: "The plugin's module for the interface",
      scope: 'plugin:read',
      level: 'member',
      item: toRead,
      also_answers: [FRONTEND_TYPE],
      answers: { 200: z.string() },
      async handle({ db, item }) {
        return ready(
          `${FRONTEND_TYPE}; charset=UTF-8`,
          await frontendModule(db, item.project.id, item.row.id),
        )
      },
    }),

    route({
      method: 'GET',
      path: `${base}/:id/activity/`,
      summary: 'What happened to a plugin config, newest first',
      scope: 'plugin:read',
      level: 'member',
      item: toRead,
      query: ActivityPageQuery,
      answers: { 200: ActivityPage },
      async handle({ db, item, query, request }) {
        const { project, row } = item
        const owner = { organization_id: project.organization_id, project_id: project.id }
        // Its order counts as the plugin's matter, under the config's id.
        const only = sql`(entry.scope = 'PluginConfig' OR entry.activity = 'order_changed')`
        return ok(await readActivityPage(db, owner, { item_id: String(row.id), only }, query, request))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/:id/job/`,
      summary: 'Start one of the jobs that the plugin offers',
      scope: 'plugin:write',
      level: 'member',
      item: toChange,
      body: JobRequest,
      examples: { 'Run a job': { job: { type: 'sync', payload: {} } } },
      answers: { 200: null },
      async handle(context) {
        if (context.item.row.deleted) throw notFound()
        await startJob(context, context.item, context.body.job)
        return ok(null)
      },
    }),
  ]
}
