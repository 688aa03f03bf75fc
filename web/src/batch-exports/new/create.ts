// Creates an export as it was described, with its backfill when that was asked for, and goes to it.
import type { UseNavigateResult } from '@tanstack/react-router'
import { answer, api } from '../../api/client'
import { queries } from '../../queries'
import { done, refused } from '../../ui/notify'
import { linkToExport } from '../addresses'
import { bodyOf, type Values } from '../form/values'
import { exportsKey, type Destination } from '../queries'

export async function createExport(
  projectId: string,
  values: Values,
  kind: Destination,
  navigate: UseNavigateResult<string>,
): Promise<void> {
  const path = { project_id: projectId }
  const made = await answer(
    api.POST('/api/projects/{project_id}/batch_exports/', { params: { path }, body: bodyOf(values, kind) }),
  )
  if (values.backfill === true) await backfillAll({ ...path, id: made.id }, made.created_at)
  await queries.invalidateQueries({ queryKey: exportsKey(projectId) })
  done(`${made.name} is created.`)
  await navigate(
    linkToExport({ projectId, exportId: made.id }, values.backfill === true ? 'backfills' : 'runs'),
  )
}

/** The export is there already: a refusal is said, and it can be asked for again. */
async function backfillAll(path: { project_id: string; id: string }, until: string): Promise<void> {
  try {
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{id}/backfill/', {
        params: { path },
        body: { end_at: until },
      }),
    )
  } catch (error) {
    refused(error)
  }
}
