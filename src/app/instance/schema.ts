// What staff are told of the running server. Each part is null when it could not be had; `failed` then says why.
import { z } from 'zod'

const bytes = z.int()
const counts = z.record(z.string(), z.int())

/** The answer, part by part. */
export const PARTS = {
  stores: z.array(z.object({ what: z.string(), state: z.enum(['ok', 'note', 'wrong']), detail: z.string() })),
  disk: z.object({
    folder: z.string(),
    parts: z.array(z.object({ name: z.string(), bytes })),
    free_bytes: bytes,
    total_bytes: bytes,
    is_complete: z.boolean().describe('False: there are too many files to look at each.'),
  }),
  database: z.object({ bytes }),
  queues: z.object({
    jobs_waiting: counts,
    jobs_failed: counts,
    export_runs: z.object({ waiting: z.int(), running: z.int() }),
  }),
  ingestion: z.object({
    waiting: z.object({ events: z.int(), bytes }),
    held_events: z.object({ in_line: z.int(), alone: z.int() }).describe('Events that wait for an app.'),
    stored_events: z.int().describe('By the process that answers, since it started.'),
    events_per_minute: z
      .array(z.int())
      .describe('Stored by the process that answers, in each of the last 15 full minutes, the newest last.'),
  }),
  memory: z.object({
    bytes: bytes.describe('Of all processes of the server.'),
    processes: z.array(z.object({ name: z.string(), count: z.int(), bytes })),
    limit_bytes: bytes.nullable(),
    machine_bytes: bytes,
    event_store_limit_bytes: bytes,
  }),
  settings: z.array(
    z.object({
      name: z.string(),
      value: z.string().nullable().describe('Null: not set, or a secret.'),
      is_set: z.boolean(),
      is_secret: z.boolean(),
    }),
  ),
}

export type Parts = { [Name in keyof typeof PARTS]: z.input<(typeof PARTS)[Name]> }

export const InstanceStatus = z
  .object({
    version: z.string(),
    uptime_s: z.int(),
    stores: PARTS.stores.nullable(),
    disk: PARTS.disk.nullable(),
    database: PARTS.database.nullable(),
    queues: PARTS.queues.nullable(),
    ingestion: PARTS.ingestion.nullable(),
    memory: PARTS.memory.nullable(),
    settings: PARTS.settings.nullable(),
    failed: z.array(z.object({ part: z.string(), reason: z.string() })),
  })
  .meta({ id: 'InstanceStatus' })
