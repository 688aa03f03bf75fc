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

export async function deleteEventsLater(
  { jobs }: Services,
  tx: Db,
  projects: readonly { id: number }[],
): Promise<void> {
  for (const { id } of projects) await jobs.enqueue(tx, deleteProjectEvents, { project_id: id })
}
