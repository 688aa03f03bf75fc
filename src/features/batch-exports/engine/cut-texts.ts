// What the run's log says once about rows that could not go out as they are: one odd event costs a warning, not the run.
import { QueryFault, QueryTimeout, StoreBusy } from '../../../platform/event-store/event-store.ts'
import { cutWarning } from '../source/cut-warning.ts'
import type { SelectedRows } from '../source/select.ts'
import type { Work } from './work.ts'

export async function warnOfCutTexts({ services, log }: Work, selection: SelectedRows): Promise<void> {
  try {
    const warning = await cutWarning(services.eventStore, selection)
    if (warning !== null) log.write('WARNING', warning)
  } catch (error) {
    // A busy store answers no questions; the rows themselves do not depend on it.
    const isHarmless = [QueryTimeout, QueryFault, StoreBusy].some((kind) => error instanceof kind)
    if (!isHarmless) throw error
  }
}
