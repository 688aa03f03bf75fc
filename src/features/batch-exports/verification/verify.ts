// What an export has delivered, read back and compared with its events: place by place, going on past those that cannot be
// reached. Knows nothing of the table that keeps the results.
import type { JsonObject } from '../../../lib/json-object.ts'
import { Refused, type DestinationKind } from '../destinations/destination.ts'
import { targetKey } from '../destinations/same-place.ts'
import { configOf, factsOf, readFrozen, type FrozenRun } from '../runs/frozen.ts'
import { verifyAcknowledged } from './acknowledged.ts'
import { eachDelivery, listPlaces, type DeliveryPlace } from './deliveries.ts'
import { verifyFiles } from './files/verify-files.ts'
import { OutOfReach } from './reader/out-of-reach.ts'
import { verifyTable } from './table/verify-table.ts'
import { unreachable } from './unreachable.ts'
import type { Verifying } from './verifying.ts'

export async function verify(work: Verifying): Promise<void> {
  const { services, row, subject, findings } = work
  for (const place of await listPlaces(services.db, row, subject)) {
    await work.giveWay()
    const run = await findDelivery(work, place)
    if (!run) continue
    const config = configWhereItWent(work, place.kind, run)
    if (config === null) {
      const target = place.kind.target(place.configs[0]!)
      findings.note(`What went to ${target} was not read back: the export goes elsewhere now.`)
      continue
    }
    await verifyPlace(work, place, run, config).catch((error: unknown) => {
      if (!(error instanceof OutOfReach || error instanceof Refused)) throw error
      findings.add(unreachable(work, place, config, error.message))
    })
  }
}

async function verifyPlace(
  work: Verifying,
  place: DeliveryPlace,
  run: FrozenRun,
  config: JsonObject,
): Promise<void> {
  const { kind } = place
  const { reader, folder } = work
  const opening = { destination_type: kind.type, config, run: factsOf(run), columns: [], folder }
  if (kind.columns !== 'files' && kind.columns !== 'http') return verifyTable(work, place, opening)
  const offer = await reader.open(opening)
  if (offer.kind === 'files') return verifyFiles(work, place, config)
  return verifyAcknowledged(work, place)
}

/** One that speaks for the others: where it went, they went. Undefined when it has just been repeated elsewhere. */
async function findDelivery(
  { services, row, subject }: Verifying,
  place: DeliveryPlace,
): Promise<FrozenRun | undefined> {
  for await (const run of eachDelivery(services.db, row, subject, place)) return readFrozen(services.db, run)
  return undefined
}

/**
 * Null when the export goes elsewhere by now: its secrets are not for the place where this run went. A place that it gets to
 * in another way than then is reached as the export gets there now.
 */
function configWhereItWent(
  { services, row }: Verifying,
  kind: DestinationKind,
  run: FrozenRun,
): JsonObject | null {
  const { definition } = run
  const isThere = targetKey(kind, row.config) === targetKey(kind, definition.config)
  const aims = isThere ? kind.aims.filter((aim) => aim in row.config) : []
  const config = { ...definition.config, ...Object.fromEntries(aims.map((aim) => [aim, row.config[aim]!])) }
  try {
    return configOf(services, row, { ...run, definition: { ...definition, config } })
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}
