// Who did a sample event, as ingestion would have stored it.
import { personUuid } from '../../../src/features/persons/rules.ts'
import type { EventPerson } from '../../../src/features/events/pipeline/store-form.ts'

export function personOf(project_id: number, distinct_id: string): EventPerson {
  const properties = JSON.stringify({
    email: `${distinct_id}@example.com`,
    plan: 'pro',
    $initial_browser: 'Chrome',
  })
  return { id: personUuid(project_id, distinct_id), properties }
}
