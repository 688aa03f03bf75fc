// Events live in a store of their own: they go after the project has, by a job that exists when the deletion does.
import type { Db } from '../../platform/db/database.ts'
import { job } from '../../platform/jobs/jobs.ts'
import type { Services } from '../../platform/services.ts'

export const deleteProjectEvents = job<{ project_id: number }>({
  name: 'delete-project-events',
  async handle({ eventStore }, { project_id }) {
    await eventStore.deleteProject(project_id)
  },
})

/** An insert that its writer has given up may arrive after the rows were deleted, where the store is shared. */
const AGAIN_AFTER_S = 3_600

export async function deleteEventsLater(
  { jobs, eventStore }: Pick<Services, 'jobs' | 'eventStore'>,
  tx: Db,
  projects: readonly { id: number }[],
): Promise<void> {
  for (const { id } of projects) {
    await jobs.enqueue(tx, deleteProjectEvents, { project_id: id })
    if (eventStore.is_shared)
      await jobs.enqueue(tx, deleteProjectEvents, { project_id: id }, { after_s: AGAIN_AFTER_S })
  }
}
