// A table of an earlier version may lack columns: they are left out. The owner is told, and the run remembers which, so that
// verification does not look for them.
import type { OutputColumn } from '../definition.ts'
import { Refused, type DeliveryContext } from './destination.ts'

/** `table` begins a sentence. */
export async function columnsInBoth(
  { columns, log, progress }: Pick<DeliveryContext, 'columns' | 'log' | 'progress'>,
  table: string,
  isInTable: (name: string) => boolean,
): Promise<OutputColumn[]> {
  const lacking = columns.filter(({ name }) => !isInTable(name)).map(({ name }) => name)
  if (lacking.length === columns.length) {
    throw new Refused(
      `${table} has none of the exported columns: ${lacking.join(', ')}. Export to another table.`,
    )
  }
  if (lacking.length > 0)
    log('WARNING', `${table} lacks the columns ${lacking.join(', ')}: they are left out.`)
  await progress.leftOut(lacking)
  return columns.filter(({ name }) => isInTable(name))
}
