// New rows for runs, of the schedule and of backfills alike. An interval that has its run already is passed over.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { DataInterval, Definition } from '../definition.ts'
import type { RunRow } from '../rows.ts'

export type NewRun = Pick<
  RunRow,
  'project_id' | 'batch_export_id' | 'backfill_id' | 'selection' | 'seq_from' | 'seq_to' | 'run_after'
> & {
  interval: DataInterval
  /** For one that is done again: the first run over these rows, and the definition that it has to keep, if any. */
  repeats?: string
  definition?: Definition | null
}

/** How many there were to make. The runs of an export come oldest first. */
export async function insertRuns(db: Db, runs: readonly NewRun[], now: Date): Promise<number> {
  if (runs.length === 0) return 0
  const column = <Value>(read: (run: NewRun) => Value) => runs.map(read)
  // Rows made in one go share their `created_at`: lists put those in order of their ids.
  const ids = runs.map((_, index) => uuid7(new Date(now.getTime() + index)))
  return db.run(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, backfill_id, repeats, status, data_interval_start,
      data_interval_end, selection, seq_from, seq_to, definition, run_after, created_at, last_updated_at)
    SELECT new.id, new.project_id, new.batch_export_id, new.backfill_id, new.repeats, 'Starting',
      new.data_interval_start, new.data_interval_end, new.selection, new.seq_from, new.seq_to, new.definition::jsonb,
      new.run_after, greatest(${now}::timestamptz, (
        -- The order of runs over the same events must not depend on a clock that was set back.
        SELECT max(created_at) + interval '1 millisecond' FROM batch_export_run AS before
        WHERE before.id = new.repeats OR before.repeats = new.repeats)), ${now}
    FROM unnest(${ids}::uuid[], ${column((run) => run.project_id)}::int[],
      ${column((run) => run.batch_export_id)}::uuid[], ${column((run) => run.backfill_id)}::uuid[],
      ${column((run) => run.interval.start)}::timestamptz[], ${column((run) => run.interval.end)}::timestamptz[],
      ${column((run) => run.selection)}::text[], ${column((run) => run.seq_from)}::bigint[],
      ${column((run) => run.seq_to)}::bigint[], ${column((run) => run.run_after)}::timestamptz[],
      ${column((run) => run.repeats ?? null)}::uuid[],
      ${column((run) => (run.definition ? JSON.stringify(run.definition) : null))}::text[])
      AS new (id, project_id, batch_export_id, backfill_id, data_interval_start, data_interval_end, selection, seq_from,
        seq_to, run_after, repeats, definition)
    ON CONFLICT DO NOTHING`)
}
