// What a simulation begins with: a few exports of different kinds, and events from before them.
import type { Interval } from '../../src/features/batch-exports/definition.ts'
import { insertExport } from '../../src/features/batch-exports/queries.ts'
import { firstDueAt } from '../../src/features/batch-exports/schedule/grid.ts'
import { sealSecrets } from '../../src/features/batch-exports/secrets.ts'
import { uuid7 } from '../../src/lib/uuid.ts'
import type { Random } from '../crash/random.ts'
import type { SimulatedExport, World } from './world.ts'
import { Worker } from './worker.ts'

const EVENTS = ['bought', 'looked', 'left']
const MINUTE_MS = 60_000
/** Short intervals make many runs, which take long, so they are rarer. Each is a multiple of the one before. */
export const INTERVALS: readonly Interval[] = [
  'every 5 minutes',
  'every 15 minutes',
  'every 15 minutes',
  'every 15 minutes',
  'hour',
]

export async function setUp(world: World): Promise<void> {
  const { random } = world
  addEvents(world, random.below(6))
  const count = random.chance(70) ? 2 : 3
  for (let index = 0; index < count; index++) {
    world.exports.push(await addExport(world, random.pick(['File', 'Postgres', 'HTTP']), index))
  }
  const workers = random.chance(80) ? ['w1', 'w2'] : ['w1']
  world.workers = workers.map((name) => new Worker(world, name))
}

async function addExport(
  world: World,
  type: SimulatedExport['type'],
  index: number,
): Promise<SimulatedExport> {
  const { random, clock, proof, project } = world
  const now = clock.now()
  const id = uuid7(now)
  const interval = random.pick(INTERVALS)
  const { config, secrets } = configOf(world, type, index)
  const schedule = { interval, timezone: 'UTC', offset_day: null, offset_hour: null, start_at: null } as const
  await insertExport(proof.db, {
    ...schedule,
    id,
    project_id: project.id,
    name: `${type} ${index}`,
    model: 'events',
    destination_type: type,
    destination_alias: null,
    config: { ...config, ...drawFilter(random) },
    secrets: sealSecrets(proof, id, secrets),
    paused: false,
    last_paused_at: null,
    end_at: null,
    hogql_query: null,
    schema: null,
    filters: null,
    next_due_at: firstDueAt(schedule, now),
    created_by: null,
    created_at: now,
    last_updated_at: now,
  })
  world.note('----', `export ${id} to ${type}, ${interval}`)
  return { id, type }
}

type Parts = { config: Record<string, unknown>; secrets: Record<string, string> }

function configOf({ random, mutation }: World, type: SimulatedExport['type'], index: number): Parts {
  switch (type) {
    case 'File': {
      const own = `${random.pick(['folder', 'bucket'])}-${index}`
      const prefix = mutation.has_shared_folder ? 'folder' : own
      const max_file_size_mb = random.chance(50) ? 1 : null
      return {
        config: { prefix, file_format: 'JSONLines', compression: null, max_file_size_mb },
        secrets: {},
      }
    }
    case 'Postgres': {
      const place = { host: 'localhost', port: 5432, database: 'proof', schema: 'public' }
      const table_name = random.pick(['keyed', 'plain'])
      return {
        config: { ...place, table_name, has_self_signed_cert: false },
        secrets: { user: 'proof', password: 'proof' },
      }
    }
    case 'HTTP':
      return { config: { url: 'http://localhost/' }, secrets: { token: 'proof' } }
  }
}

export function drawFilter(random: Random): Record<string, string[] | null> {
  const some = () => (random.chance(30) ? [random.pick(EVENTS)] : null)
  return { include_events: some(), exclude_events: some() }
}

/** Adds events of this moment, of the last hour, or of the next few minutes. */
export function addEvents({ store, random, clock }: World, count: number): void {
  const now = clock.now()
  const events = Array.from({ length: count }, (_, index) => ({
    uuid: `${store.events.length + index + 1}`.padStart(8, '0') + '-0000-4000-8000-000000000000',
    event: random.pick(EVENTS),
    distinct_id: `user-${random.below(5)}`,
    timestamp: new Date(now.getTime() + (random.chance(70) ? 0 : random.below(70) - 60) * MINUTE_MS),
  }))
  // Not drawn: what else a seed does stays as it is.
  const missing = Math.max(0, ((store.events.length * 7) % 11) - 7)
  store.write(events, now, missing)
}
