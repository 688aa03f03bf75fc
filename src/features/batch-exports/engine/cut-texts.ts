// What the run's log says once about rows that could not go out as they are: one odd event costs a warning, not the run.
import { QueryFault, QueryTimeout, StoreBusy } from '../../../platform/event-store/event-store.ts'
import type { RowCheck } from '../source/select.ts'
import type { Work } from './work.ts'

export async function warnOfCutTexts(
  { services, project, log }: Work,
  checks: readonly RowCheck[],
): Promise<void> {
  for (const { sql, parameters, warning } of checks) {
    try {
      const { rows } = await services.eventStore.query({
        project_id: project.id,
        sql,
        parameters,
        timezone: 'UTC',
        max_rows: 1,
      })
      const text = warning(rows[0]!)
      if (text !== null) log.write('WARNING', text)
    } catch (error) {
      // A busy store answers no questions; the rows themselves do not depend on it.
      const isHarmless = [QueryTimeout, QueryFault, StoreBusy].some((kind) => error instanceof kind)
      if (!isHarmless) throw error
    }
  }
}
