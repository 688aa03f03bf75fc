// What the ledger costs a run: the same export with a long past and without one. The cheapest export of all, so that the
// ledger's part shows.
import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import { compareCpu, ROUNDS } from './compare.ts'
import type { Exported } from './measured-process.ts'
import { exportTo } from './order.ts'
import type { Past } from './past.ts'
import type { SampleStore } from './sample-store.ts'

const GOAL = 1.05
const PAST: Past = { runs: 1_000, backfills: 50 }

export function benchLedger(store: SampleStore): Promise<boolean> {
  return compareCpu({
    name: 'Ledger',
    rounds: ROUNDS,
    goal: GOAL,
    labels: [`after ${PAST.runs} runs and ${PAST.backfills} backfills`, 'the first run'],
    ours: () => exportParquet(store, PAST),
    yardstick: () => exportParquet(store),
  })
}

async function exportParquet(store: SampleStore, past?: Past): Promise<Exported> {
  const config = { prefix: 'bench/{export_id}', file_format: 'Parquet', compression: 'snappy' }
  const options = { is_run_alone: true, ...(past && { past }) }
  const exported = await exportTo(store, { type: 'File', config }, options)
  await rm(join(store.folder, 'exports'), { recursive: true, force: true })
  return exported
}
