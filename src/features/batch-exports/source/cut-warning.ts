// What the log of a run tells once of texts that are longer than their column, and are cut for it.
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { SelectedRows } from './select.ts'

/** Null when all is well; nothing is asked where no text can be too long. Throws as the store's queries do. */
export async function cutWarning(
  store: Pick<EventStore, 'findCutTexts'>,
  { rows, columns, found_by }: SelectedRows,
): Promise<string | null> {
  if (columns.every(({ max_characters }) => max_characters === undefined)) return null
  const cut = await store.findCutTexts(rows)
  if (cut.rows === 0) return null
  const count = cut.rows === 1 ? '1 row' : `${cut.rows} rows`
  const names = columns
    .filter(({ name }) => cut.columns.includes(name))
    .map(({ name, type }) => `${name} ${type}`)
  return `Texts longer than their column were cut in ${count} (${names.join(', ')}), the first with the ${found_by} ${cut.first}.`
}
