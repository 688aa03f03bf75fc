// Ways to break what exports promise, around the code rather than in it: a proof that misses one of them proves nothing.
// test/prove-simulation.long.test.ts runs them.
import type { Statement } from '../../src/platform/db/sql.ts'
import type { Mutation } from './world.ts'

/** `first_seed` is one that showed it: the search begins there. */
export const MUTATIONS: Record<string, Mutation & { first_seed: number }> = {
  'whoever has lost the lease may go on': {
    first_seed: 2,
    rewrite: replacing(
      /lease_owner = (\$\d+) AND attempt = (\$\d+)/,
      '$1::uuid IS NOT NULL AND $2::int IS NOT NULL',
    ),
  },
  'a table forgets which runs it has': { first_seed: 126, has_ledger: false },
  'events arrive before an instant whose position is known': { first_seed: 36, holds_arrivals: false },
  'a run can be cancelled while it becomes visible': {
    first_seed: 2126,
    rewrite: replacing(
      /AND NOT coalesce\(is_committing AND lease_until >= (\$\d+), false\)/,
      'AND $1::timestamptz IS NOT NULL',
    ),
  },
  'what a run is about is not kept for the next attempt': {
    first_seed: 56,
    rewrite: chained(
      replacing(/definition = coalesce\(definition, (\$\d+)\)/, 'definition = $1'),
      replacing(
        /(attempt = attempt \+ 1[^]*)\bdefinition, records_total/,
        '$1 NULL::jsonb AS definition, records_total',
      ),
    ),
  },
  'a run claims what others have claimed': {
    first_seed: 3,
    rewrite: replacing(
      /WHERE batch_export_id = (\$\d+) AND positions && int8range\((\$\d+), (\$\d+), '\(\]'\)\s+AND times/,
      'WHERE batch_export_id = $1 AND int8range($2, $3) IS NULL AND times',
    ),
  },
  'files of backfills are named like those of the schedule': { first_seed: 3, has_shared_names: true },
  'a run that is done again leaves the files of the one before': { first_seed: 243, keeps_leftovers: true },
  'two exports write files of the same names': { first_seed: 23, has_shared_folder: true },
  'unpausing with a backfill chooses by timestamp': {
    first_seed: 72,
    rewrite: replacing(
      /(SELECT\s+id, project_id, batch_export_id,) kind(,[^]*FROM batch_export_backfill WHERE id)/,
      "$1 'backfill' AS kind$2",
    ),
  },
  'a run that is done again forgets which rows it had': {
    first_seed: 243,
    rewrite: replacing(
      /\bpublished,([^]*OR repeats =[^]*ORDER BY created_at, id)/,
      'NULL::jsonb AS published,$1',
    ),
  },
  'the end of a run does not give its slot back': {
    first_seed: 2,
    rewrite: replacing(/SET active = active - 1 FROM ended/, 'SET active = active FROM ended'),
  },
  'a run that somebody works on can be claimed': {
    first_seed: 3,
    rewrite: chained(
      replacing(
        /finished_at IS NULL AND lease_owner IS NULL AND run_after/,
        'finished_at IS NULL AND run_after',
      ),
      replacing(
        /AND other\.lease_owner IS NOT NULL/,
        'AND other.lease_owner IS NOT NULL AND other.id <> run.id',
      ),
    ),
  },
  'an interval that has its run is made again': {
    first_seed: 18,
    rewrite: replacing(/max\(data_interval_end\) FROM/, "max(data_interval_end) - interval '1 hour' FROM"),
  },
}

function replacing(pattern: RegExp, by: string): (statement: Statement) => Statement {
  return ({ text, values }) => ({ text: text.replace(pattern, by), values })
}

function chained(...steps: ((statement: Statement) => Statement)[]): (statement: Statement) => Statement {
  return (statement) => steps.reduce((changed, step) => step(changed), statement)
}
