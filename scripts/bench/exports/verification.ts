// What it costs to read back and compare what was delivered, beside what it cost to deliver it.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compareCpu, ROUNDS } from './compare.ts'
import type { Destination, Exported, Measured } from './measured-process.ts'
import { exportTo } from './order.ts'
import { openWarehouse } from './postgres.ts'
import type { SampleStore } from './sample-store.ts'

const GOAL = 0.3

export async function benchVerification(store: SampleStore): Promise<boolean> {
  const lines = await compareFile(store, 'JSONLines gzip', { file_format: 'JSONLines', compression: 'gzip' })
  const parquet = await compareFile(store, 'Parquet zstd', { file_format: 'Parquet', compression: 'zstd' })
  const table = await compareTable(store)
  return lines && parquet && table
}

function compareFile(store: SampleStore, name: string, config: Destination['config']): Promise<boolean> {
  const destination = { type: 'File', config: { prefix: 'bench/{export_id}', ...config } }
  return compareRound(name, async () => {
    const exported = await exportTo(store, destination, { is_verified: true })
    await rm(join(store.folder, 'exports'), { recursive: true, force: true })
    return exported
  })
}

async function compareTable(store: SampleStore): Promise<boolean> {
  const warehouse = await openWarehouse(join(store.folder, 'warehouse'))
  try {
    return await compareRound('Postgres', async () => {
      const { destination, postmaster } = warehouse
      const exported = await exportTo(store, destination, { is_verified: true, postmaster })
      await warehouse.dropOurs()
      return exported
    })
  } finally {
    await warehouse.close()
  }
}

/** Each round writes and then reads what it wrote. */
function compareRound(name: string, work: () => Promise<Exported>): Promise<boolean> {
  let verified: Measured
  return compareCpu({
    name: `Verify ${name}`,
    rounds: ROUNDS,
    goal: GOAL,
    labels: ['reading back', 'writing'],
    async yardstick() {
      const exported = await work()
      verified = exported.verified!
      return exported
    },
    ours: async () => verified,
  })
}
