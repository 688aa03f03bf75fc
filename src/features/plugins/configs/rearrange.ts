// The order in which the apps of a project come, changed for several at once.
import { changesBetween } from '../../activity-log/record.ts'
import { recordConfigActivity } from '../activity.ts'
import { namedConfig, type Change } from './create.ts'
import { isId, type Place } from './place.ts'
import { listPluginsOf, lockConfigs, updateConfig, type ConfigSet } from './queries.ts'

/** Ids that are unknown here are passed over. */
export async function rearrangeConfigs(
  change: Change,
  { project }: Place,
  set: ConfigSet,
  orders: Readonly<Record<string, number>>,
): Promise<void> {
  const { services, db, now } = change
  const orderOf = new Map(
    Object.entries(orders).flatMap(([id, order]) => (isId(id) ? [[Number(id), order]] : [])),
  )
  await db.transaction(async (tx) => {
    const rows = await lockConfigs(tx, set, [...orderOf.keys()])
    const moved = rows.filter((row) => orderOf.get(row.id) !== row.order)
    const ids = moved.map(({ id }) => id)
    const plugins = new Map(
      (await listPluginsOf(tx, project.id, ids)).map((each) => [each.plugin_config_id, each]),
    )
    for (const row of moved) {
      const after = await updateConfig(tx, row, { order: orderOf.get(row.id)! }, now)
      const named = namedConfig(row, plugins.get(row.id) ?? { name: null })
      await recordConfigActivity(tx, change, project.organization_id, named, {
        activity: 'order_changed',
        changes: changesBetween('Plugin', row, after, ['order']),
      })
      await services.changes.tell(tx, 'plugin-config', row.id, project.id)
    }
  })
}
