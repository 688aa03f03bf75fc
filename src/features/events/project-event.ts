// An event with the project it belongs to and whose it is: what a batch of several projects is made of.
import type { PersonEvent } from '../persons/person-event.ts'
import { personUuid } from '../persons/rules.ts'
import type { PipelineEvent } from './pipeline-event.ts'
import type { EventPerson } from './pipeline/store-form.ts'

export type ProjectEvent = PipelineEvent & Pick<PersonEvent, 'project_id' | 'has_person' | 'person'>

/** Field by field: a spread costs several times as much, and every event passes here. */
export function ofProject(event: PipelineEvent, project_id: number): ProjectEvent {
  const { uuid, event: name, distinct_id, properties, timestamp, created_at } = event
  const has_person = properties.$process_person_profile !== false
  const person = null
  return { project_id, has_person, person, uuid, event: name, distinct_id, properties, timestamp, created_at }
}

/** An event without a profile still has somebody's id: always the same for its distinct id. */
export function nobody({ project_id, distinct_id }: ProjectEvent): EventPerson {
  return { id: personUuid(project_id, distinct_id), properties: '{}' }
}
