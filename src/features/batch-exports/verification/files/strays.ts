// Files in an export's folders that no delivery accounts for: somebody else's, or left by runs that did not get through.
// Whoever reads the folder takes them for delivered.
import type { Db } from '../../../../platform/db/database.ts'
import { sql } from '../../../../platform/db/sql.ts'
import { isExportedName } from '../../destinations/prefix.ts'
import { retryAdvice } from '../advice.ts'
import { listFolders, type DeliveryPlace } from '../deliveries.ts'
import { listFileNeighbours } from '../neighbours.ts'
import type { Owner } from '../queries.ts'
import type { Verifying } from '../verifying.ts'

export async function findStrays(work: Verifying, place: DeliveryPlace): Promise<void> {
  const { services, row, subject, reader } = work
  for (const folder of await listFolders(services.db, row, subject, place)) {
    await work.giveWay()
    for (;;) {
      const names = await reader.listMore(folder)
      if (names.length === 0) break
      await judgeNames(work, place, names.filter(isExportedName))
    }
  }
}

/** Called after the names were listed: a run records the names of its files before it makes them visible. */
async function judgeNames(work: Verifying, place: DeliveryPlace, names: readonly string[]): Promise<void> {
  const { services, row, findings } = work
  const left = await listUnaccounted(services.db, row, names)
  if (left.length === 0) return
  const others = await namedByNeighbours(services.db, row, place, left)
  for (const { name, run_id, is_over } of left) {
    // Also one that a run of this export has left: which of the two wrote it last cannot be told.
    if (others.has(name)) continue
    const problem = { kind: 'stray_file', file: name, uuid: null, position: null } as const
    findings.add({ ...problem, run: run_id, ...wordsFor(row, run_id, is_over) })
  }
}

type Unaccounted = {
  name: string
  /** The run of this export that may have left it. */
  run_id: string | null
  /** What that run had to deliver is at the destination, under other names. */
  is_over: boolean
}

/** A file is accounted for by the last run of its delivery that got through, or by one that is at work on it. */
function listUnaccounted(
  db: Db,
  { id, project_id }: Owner,
  names: readonly string[],
): Promise<Unaccounted[]> {
  return db.rows(sql`
    WITH named AS (
      SELECT run.id, run.created_at, coalesce(run.repeats, run.id) AS delivery_id, name
      FROM batch_export_run AS run, jsonb_array_elements_text(run.published) AS name
      WHERE run.project_id = ${project_id} AND run.batch_export_id = ${id}),
    decided AS (
      SELECT named.*, decisive.id AS decisive_id, decisive.is_live, decisive.is_done FROM named
      CROSS JOIN LATERAL (
        SELECT run.id, finished_at IS NULL AS is_live, status = 'Completed' AS is_done FROM batch_export_run AS run
        WHERE run.id = named.delivery_id OR run.repeats = named.delivery_id
        ORDER BY (finished_at IS NULL) DESC, (status = 'Completed') DESC, created_at DESC, run.id DESC LIMIT 1) AS decisive
      WHERE name = ANY(${names}))
    SELECT listed.name, (array_agg(decided.id ORDER BY decided.created_at DESC))[1] AS run_id,
      coalesce(bool_or(is_done), false) AS is_over
    FROM unnest(${names}::text[]) AS listed (name) LEFT JOIN decided USING (name)
    GROUP BY listed.name
    HAVING coalesce(bool_or(is_live OR is_done AND decided.id = decisive_id), false) = false
    ORDER BY listed.name`)
}

/** Files that another export has named. */
async function namedByNeighbours(
  db: Db,
  owner: Owner,
  place: DeliveryPlace,
  left: readonly Unaccounted[],
): Promise<Set<string>> {
  const names = left.map(({ name }) => name)
  const ids = (await listFileNeighbours(db, owner, place)).map(({ id }) => id)
  const rows = await db.rows<{ name: string }>(sql`
    SELECT DISTINCT name FROM batch_export_run AS run, jsonb_array_elements_text(run.published) AS name
    WHERE run.batch_export_id = ANY(${ids}::uuid[]) AND name = ANY(${names})`)
  return new Set(rows.map(({ name }) => name))
}

function wordsFor(
  owner: Owner,
  run_id: string | null,
  is_over: boolean,
): { message: string; what_to_do: string } {
  if (run_id === null) {
    return {
      message: 'No run of this export has written this file, but it lies in a folder of its files.',
      what_to_do: 'Delete the file, or move it to another folder.',
    }
  }
  if (is_over) {
    return {
      message: 'The file was left by an earlier run over the same events, which are in other files by now.',
      what_to_do: 'Delete the file.',
    }
  }
  return {
    message: 'The file was left by a run that did not get through.',
    what_to_do: retryAdvice(owner, run_id),
  }
}
