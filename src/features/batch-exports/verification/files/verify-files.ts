// Delivered files: whether each is there, is what its run wrote, and holds the events that the run had to deliver.
import type { JsonObject } from '../../../../lib/json-object.ts'
import { Refused } from '../../destinations/destination.ts'
import { readFrozen } from '../../runs/frozen.ts'
import { eachDelivery, type DeliveryPlace } from '../deliveries.ts'
import { OutOfReach } from '../reader/out-of-reach.ts'
import { unreachable } from '../unreachable.ts'
import type { Verifying } from '../verifying.ts'
import { findStrays } from './strays.ts'
import { verifyDelivery } from './verify-delivery.ts'

/** So many runs in a place that cannot be read, and the others are not tried. */
const MAX_UNREACHABLE = 3

/** Strays are looked for unless one run alone is verified: the folder may hold the files of years. */
export async function verifyFiles(work: Verifying, place: DeliveryPlace, config: JsonObject): Promise<void> {
  const { services, row, subject, findings } = work
  let failures = 0
  for await (const run of eachDelivery(services.db, row, subject, place)) {
    await work.giveWay()
    try {
      await verifyDelivery(work, await readFrozen(services.db, run))
    } catch (error) {
      if (!(error instanceof OutOfReach || error instanceof Refused)) throw error
      findings.add(unreachable(work, place, config, error.message, run.id))
      failures++
    }
    if (failures === MAX_UNREACHABLE) {
      findings.note(`After ${failures} runs that could not be read back, the others were not tried.`)
      return
    }
  }
  if (subject.run_id === null) await findStrays(work, place)
}
