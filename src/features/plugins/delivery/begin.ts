// Where deliveries of a config begin: with the first event that is stored after the call that switched it on.
import type { Db } from '../../../platform/db/database.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { deliveryMethodsOf } from './methods.ts'
import { openCursor } from './queries.ts'

/** A config that was on before goes on where it was. */
export async function beginDeliveries(
  tx: Db,
  eventStore: Pick<EventStore, 'lastPosition'>,
  { id, project_id }: Pick<PluginConfigRow, 'id' | 'project_id'>,
  { capabilities }: Pick<PluginRow, 'capabilities'>,
): Promise<void> {
  const methods = deliveryMethodsOf(new Set(capabilities.methods))
  if (methods.length === 0) return
  const position = await eventStore.lastPosition(project_id)
  for (const method of methods) await openCursor(tx, { project_id, config_id: id, method }, position)
}
