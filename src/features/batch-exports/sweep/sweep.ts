// Once a day: what dead runs left at destinations is removed (open uploads, partial files, staging tables). One export
// after the other, and only those of which a run has ended uncleanly since their last sweep.
import { job } from '../../../platform/jobs/jobs.ts'
import type { Services } from '../../../platform/services.ts'
import { forgetUploads, listExportsToSweep, type UnsweptExport } from './queries.ts'
import { sweepExport, type Swept } from './sweep-export.ts'

const HOUR_MS = 3_600_000
/** A worker that has lost its run needs seconds to notice; this is for those that sleep, or have lost the network. */
const SETTLED_MS = HOUR_MS
/** After that nobody looks any more: a destination that was out of reach for so long will not come back. */
const LOOKED_AFTER_MS = 30 * 24 * HOUR_MS
const EXPORT_LIMIT_MS = 2 * 60_000
const TOTAL_LIMIT_MS = 5 * HOUR_MS

export const sweepExports = job<Record<string, never>>({
  name: 'sweep-exports',
  cron: '23 3 * * *',
  time_limit_s: (TOTAL_LIMIT_MS + HOUR_MS) / 1000,
  async handle(services, _data, now) {
    const until = new Date(now.getTime() - SETTLED_MS)
    const from = new Date(now.getTime() - LOOKED_AFTER_MS)
    const total = AbortSignal.timeout(TOTAL_LIMIT_MS)
    const account = { exports: 0, removed: 0, failed: 0 }
    for (const row of await listExportsToSweep(services.db, { from, until })) {
      if (total.aborted) break
      const { removed, is_done } = await sweepOne(services, row, until, total)
      account.exports += 1
      account.removed += removed
      account.failed += is_done ? 0 : 1
    }
    await forgetUploads(services.db, { from, until })
    services.log.info(account, 'exports swept')
  },
})

/** One export in trouble of its own, such as secrets that cannot be opened any more, does not keep the others waiting. */
async function sweepOne(
  services: Services,
  row: UnsweptExport,
  until: Date,
  total: AbortSignal,
): Promise<Swept> {
  const signal = AbortSignal.any([total, AbortSignal.timeout(EXPORT_LIMIT_MS)])
  try {
    return await sweepExport(services, row, { from: row.unswept_from, until }, signal)
  } catch (error) {
    services.log.warn({ err: error, batch_export_id: row.id }, 'an export could not be swept')
    return { removed: 0, is_done: false }
  }
}
