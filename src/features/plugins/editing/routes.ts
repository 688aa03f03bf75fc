// The code of plugins: seen, edited, and replaced by newer versions.
import { ok, route } from '../../../platform/http/route.ts'
import { addressIn } from '../address.ts'
import type { Family } from '../families.ts'
import { listFiles } from '../file-queries.ts'
import { presentFiles, presentPlugin } from '../present.ts'
import * as schema from '../schema.ts'
import type { PluginWithFiles } from './replace-code.ts'
import { updateSource } from './update-source.ts'
import { checkForUpdates, upgradePlugin } from './upgrade.ts'

/** Escaped as JSON, 5 MB of code may take twice as much. */
export const MAX_SOURCE_BODY_BYTES = 12 * 1024 * 1024

export function pluginEditingRoutes(family: Family) {
  const base = `/api/organizations/:organization_id/${family}/` as const
  const address = addressIn(family)
  return [
    route({
      method: 'GET',
      path: `${base}:id/source/`,
      summary: 'One plugin with its files, by name',
      scope: 'plugin:read',
      level: 'member',
      item: address.toSeeSource,
      query: schema.FormatQuery,
      answers: { 200: schema.PluginWithFiles },
      handle: async ({ db, item, query }) =>
        ok(presentSource({ row: item, files: await listFiles(db, item.id) }, query)),
    }),

    route({
      method: 'PATCH',
      path: `${base}:id/update_source/`,
      summary: 'Write and delete files of a plugin; those that are not named stay',
      scope: 'plugin:write',
      level: 'member',
      item: address.toReplaceCode,
      query: schema.FormatQuery,
      body: schema.SourceUpdate,
      examples: {
        'A transformation': {
          'index.ts':
            'export function processEvent(event) {\n  delete event.properties.ssn\n  return event\n}',
        },
      },
      max_body_bytes: MAX_SOURCE_BODY_BYTES,
      answers: { 200: schema.PluginWithFiles },
      handle: async (context) =>
        ok(presentSource(await updateSource(context, context.item, context.body), context.query)),
    }),

    route({
      method: 'GET',
      path: `${base}:id/check_for_updates/`,
      summary: 'One plugin, after a look for its newest version',
      scope: 'plugin:read',
      level: 'member',
      item: address.toSeeSource,
      query: schema.FormatQuery,
      answers: { 200: schema.CheckedPlugin },
      async handle(context) {
        const plugin = presentPlugin(await checkForUpdates(context, context.item))
        return ok(schema.isPostHogFormat(context.query) ? { plugin } : { ...plugin, plugin })
      },
    }),

    route({
      method: 'POST',
      path: `${base}:id/upgrade/`,
      summary: 'Upgrade an installed plugin to its newest version',
      scope: 'plugin:write',
      level: 'member',
      item: address.toReplaceCode,
      answers: { 200: schema.Plugin },
      handle: async (context) => ok(presentPlugin(await upgradePlugin(context, context.item))),
    }),
  ]
}

function presentSource({ row, files }: PluginWithFiles, query: { format?: string | undefined }) {
  return schema.isPostHogFormat(query)
    ? presentFiles(files)
    : { ...presentPlugin(row), ...presentFiles(files) }
}
