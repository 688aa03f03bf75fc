// Other code for a stored plugin, by an edit or an upgrade: read and looked at first, then swapped in one transaction, or
// not at all. Whoever changed the plugin meanwhile is not overwritten: then everything is looked at again.
import { recordPluginActivity } from '../activity.ts'
import { assertMayChange, type PluginChange } from '../change.ts'
import { changedFiles, CODE_FILE, storeFiles } from '../code.ts'
import { changesOf, differing } from '../columns.ts'
import { listFiles, logBrokenCode, type StoredFile } from '../file-queries.ts'
import { getOwnPlugin, lockPlugin, updatePlugin, type PluginColumns } from '../queries.ts'
import type { PluginRow } from '../rows.ts'
import { writeErrors } from '../source-errors.ts'

export type PluginWithFiles = { row: PluginRow; files: readonly StoredFile[] }

type Prepared = { columns: Partial<PluginColumns>; files: readonly StoredFile[] }

export async function replaceCode(
  change: PluginChange,
  id: number,
  activity: 'source_updated' | 'upgraded',
  prepare: (before: PluginWithFiles) => Promise<Prepared>,
): Promise<PluginWithFiles> {
  const { db, organization } = change
  for (;;) {
    const row = await getOwnPlugin(db, organization.id, id)
    const before = { row, files: await listFiles(db, id) }
    const { columns, files } = await prepare(before)
    const changed = { columns: differing(row, columns), filenames: changedFiles(before.files, files) }
    if (Object.keys(changed.columns).length === 0 && changed.filenames.length === 0) return before
    await assertMayChange(change, row, changed.columns)
    if (await swap(change, row, { before: before.files, files, ...changed }, activity)) {
      return { row: { ...row, ...changed.columns }, files }
    }
  }
}

type Swap = {
  before: readonly StoredFile[]
  files: readonly StoredFile[]
  columns: Partial<PluginColumns>
  filenames: readonly string[]
}

/** False when somebody was faster. */
function swap(
  change: PluginChange,
  row: PluginRow & { version: string },
  { before, files, columns, filenames }: Swap,
  activity: 'source_updated' | 'upgraded',
): Promise<boolean> {
  const { services, db, organization, now } = change
  return db.transaction(async (tx) => {
    const { version } = await lockPlugin(tx, organization.id, row.id)
    if (version !== row.version) return false
    await storeFiles(tx, row.id, before, files, now)
    await updatePlugin(tx, organization.id, row.id, { ...columns, updated_at: now })
    const errors = (columns.errors ?? row.errors).filter(({ file }) => file === CODE_FILE)
    if (errors.length > 0 && filenames.includes(CODE_FILE)) {
      await logBrokenCode(tx, row.id, writeErrors(errors), now)
    }
    // The names of the files alone: code may hold what was never meant for the log.
    const source = {
      type: 'Plugin',
      action: 'changed' as const,
      field: 'source',
      before: null,
      after: filenames,
    }
    await recordPluginActivity(
      tx,
      change,
      { ...row, ...columns },
      {
        activity: activity === 'source_updated' && filenames.length === 0 ? 'updated' : activity,
        changes: [...changesOf(row, columns), ...(filenames.length > 0 ? [source] : [])],
      },
    )
    await services.changes.tell(tx, 'plugin', row.id)
    return true
  })
}
