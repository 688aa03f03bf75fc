// Plugins of an organization: the same calls for each family, on the same rows.
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { addressIn, assertInstallable, assertReadable } from './address.ts'
import { changePlugin, uninstallPlugin } from './change.ts'
import { createPlugin } from './create.ts'
import { FAMILIES, type Family } from './families.ts'
import { pluginListRoutes } from './lists/routes.ts'
import { presentPlugin } from './present.ts'
import { countPlugins, listPlugins } from './queries.ts'
import { Plugin, PluginCreate, PluginUpdate } from './schema.ts'
import { pluginEditingRoutes } from './editing/routes.ts'
import { pluginTestRoutes } from './test-run/routes.ts'

export const pluginRoutes = FAMILIES.flatMap((family) => [
  ...routesOfFamily(family),
  ...pluginEditingRoutes(family),
  ...pluginListRoutes(family),
  ...pluginTestRoutes(family),
])

function routesOfFamily(family: Family) {
  const base = `/api/organizations/:organization_id/${family}/` as const
  const address = addressIn(family)
  return [
    route({
      method: 'GET',
      path: base,
      summary: 'List plugins: your own, those for everybody, and those your projects have configured',
      scope: 'plugin:read',
      level: 'member',
      item: assertReadable,
      query: PageQuery,
      answers: { 200: paged(Plugin) },
      async handle({ db, organization, page, paged }) {
        const set = { organization_id: organization.id, family, only: 'visible' as const }
        const rows = await listPlugins(db, set, page)
        return ok(paged(await countPlugins(db, set), rows.map(presentPlugin)))
      },
    }),

    route({
      method: 'POST',
      path: base,
      summary: 'Create a plugin, or install one from an address',
      scope: 'plugin:write',
      level: 'member',
      item: assertInstallable,
      body: PluginCreate,
      examples: {
        'Code of your own': { plugin_type: 'source', name: 'Plan of the customer' },
        'From a repository': { plugin_type: 'custom', url: 'https://github.com/example/longshore-app' },
      },
      answers: { 201: Plugin },
      handle: async (context) => created(presentPlugin(await createPlugin(context, family, context.body))),
    }),

    route({
      method: 'GET',
      path: `${base}:id/`,
      summary: 'One plugin',
      scope: 'plugin:read',
      level: 'member',
      item: address.toRead,
      answers: { 200: Plugin },
      handle: async ({ item }) => ok(presentPlugin(item)),
    }),

    route({
      method: 'PATCH',
      path: `${base}:id/`,
      summary: 'Change fields of a plugin',
      scope: 'plugin:write',
      level: 'member',
      item: address.toChange,
      body: PluginUpdate,
      examples: { Rename: { name: 'Plan of the customer' } },
      answers: { 200: Plugin },
      handle: async (context) => ok(presentPlugin(await changePlugin(context, context.item, context.body))),
    }),

    route({
      method: 'DELETE',
      path: `${base}:id/`,
      summary: 'Uninstall a plugin, in every project and with everything it has stored',
      scope: 'plugin:write',
      level: 'member',
      item: address.toChange,
      answers: { 204: null },
      async handle(context) {
        await uninstallPlugin(context, context.item)
        return noContent()
      },
    }),
  ]
}
