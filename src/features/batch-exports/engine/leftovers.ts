// What earlier runs over the same rows have left at the destination, for the run that does them again.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { Definition } from '../definition.ts'
import { Passing, Refused, type OpenUpload } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { isSamePlace } from '../destinations/same-place.ts'
import { isDecisive } from '../ledger/queries.ts'
import type { RunRow } from '../rows.ts'
import type { FrozenRun } from '../runs/frozen.ts'
import { listUploads } from '../sweep/queries.ts'

/**
 * Files that may be visible where this run goes, also those of its own earlier attempts: persons change between two of them.
 * Those elsewhere cannot be removed any more: the owner is told.
 */
export function filesLeftBy(run: FrozenRun, warn: (message: string) => void): string[] {
  const { definition, past } = run
  const left = [...past.others, run].flatMap((each) =>
    each.definition === null
      ? []
      : (each.published ?? []).map((name) => ({ name, definition: each.definition! })),
  )
  const here = left.filter((file) => isHere(definition, file.definition))
  const elsewhere = left.length - here.length
  if (elsewhere > 0) {
    warn(
      `${elsewhere} files of earlier runs over these rows are where the export went before: remove them there.`,
    )
  }
  return [...new Set(here.map(({ name }) => name))]
}

/**
 * Files that no other export has written under the same name since: two exports may have had the same prefix, one after the
 * other. Which of them the file is of by now cannot be told.
 * In a transaction: until it ends nobody else of the organization says which files a run writes or removes.
 */
export async function withoutNeighbours(
  tx: Db,
  run: Delivering,
  files: readonly string[],
  warn: (message: string) => void,
): Promise<string[]> {
  await lockNames(tx, run)
  const named = await listNamed(tx, run, files, sql`true`)
  const taken = new Set(named.map(({ file }) => file))
  if (taken.size > 0) {
    warn(`Not removed, because another export has files of the same name: ${[...taken].join(', ')}.`)
  }
  return files.filter((file) => !taken.has(file))
}

/**
 * Another export of the organization may have delivered under these names before it went elsewhere, or be about to write or
 * remove them. Other organizations are not asked about, as in file-names.ts. In the transaction that writes the names down: of
 * two runs that come at once, one sees the other's.
 */
export async function assertNotDelivered(tx: Db, run: Delivering, files: readonly string[]): Promise<void> {
  if (files.length === 0) return
  await lockNames(tx, run)
  const isOfOrganization = sql`project_id IN (
    SELECT id FROM project WHERE organization_id = (SELECT organization_id FROM project WHERE id = ${run.project_id}))`
  const isAlive = sql`EXISTS (SELECT 1 FROM batch_export WHERE id = batch_export_id AND deleted_at IS NULL)`
  const counts = sql`${IS_BUSY} OR status = 'Completed' AND ${isAlive} AND ${isDecisive(sql`run`)}`
  const [taken] = await listNamed(tx, run, files, sql`${isOfOrganization} AND (${counts})`)
  if (taken === undefined) return
  const { file, id, batch_export_id, is_busy } = taken
  if (is_busy) {
    throw new Passing(
      `The export ${batch_export_id} is at work on the file ${file}. This run waits until it is done.`,
    )
  }
  throw new Refused(
    `The file ${file} holds what the export ${batch_export_id} has delivered there, before it went elsewhere. Retry its run ${id}: the file goes to where that export goes now. Or choose another \`prefix\` here. Then retry this run.`,
  )
}

async function lockNames(tx: Db, { project_id }: Delivering): Promise<void> {
  const { organization_id } = await tx.only<{ organization_id: string }>(sql`
    SELECT organization_id FROM project WHERE id = ${project_id}`)
  await tx.run(sql`SELECT pg_advisory_xact_lock(${LOCK}, hashtext(${organization_id}))`)
}

/** Names the advisory lock, with a number for the organization. */
const LOCK = 0x66_69_72

/** A run of the same delivery as `run` is about to write or remove files. */
const IS_BUSY = sql`EXISTS (
  SELECT 1 FROM batch_export_run AS live
  WHERE (live.id = coalesce(run.repeats, run.id) OR live.repeats = coalesce(run.repeats, run.id))
    AND live.finished_at IS NULL AND live.is_committing)`

type Delivering = Pick<FrozenRun, 'batch_export_id' | 'project_id' | 'definition'>
type Named = Pick<RunRow, 'id' | 'batch_export_id' | 'project_id'> & { file: string; is_busy: boolean }

/** Runs of other exports that have written a file of such a name here; `condition` is about `run`. */
async function listNamed(
  db: Db,
  { batch_export_id, project_id, definition }: Delivering,
  files: readonly string[],
  condition: Statement,
): Promise<Named[]> {
  const kind = DESTINATIONS.get(definition.destination_type)!
  const named = await db.rows<Named & { config: Definition['config'] }>(sql`
    SELECT id, batch_export_id, project_id, file, definition -> 'config' AS config, ${IS_BUSY} AS is_busy
    FROM batch_export_run AS run, jsonb_array_elements_text(published) AS file
    WHERE published ?| ${files}::text[] AND batch_export_id <> ${batch_export_id}
      AND definition ->> 'destination_type' = ${kind.type} AND file = ANY(${files}::text[]) AND ${condition}`)
  const here = kind.place?.(definition.config, project_id)
  return named.filter(({ config, ...other }) => kind.place?.(config, other.project_id) === here)
}

/** Those that no attempt is known to have finished, where this run goes. */
export async function uploadsLeftBy(
  db: Db,
  { id, project_id, attempt, definition, past }: FrozenRun,
): Promise<OpenUpload[]> {
  if (attempt === 1 && past.others.length === 0) return []
  const here = past.others.filter((run) => isHere(definition, run.definition))
  return listUploads(db, project_id, [id, ...here.map((run) => run.id)])
}

/** What the destination has acknowledged of these rows; a repair sends all of them again. */
export function progressOf({ progress, definition, past }: FrozenRun): unknown {
  if (progress !== null || past.completed !== null) return progress
  const last = past.others.findLast((run) => run.progress !== null && isHere(definition, run.definition))
  return last?.progress ?? null
}

function isHere(one: Definition, other: Definition | null): boolean {
  if (one.destination_type !== other?.destination_type) return false
  return isSamePlace(DESTINATIONS.get(one.destination_type)!, one.config, other.config)
}
