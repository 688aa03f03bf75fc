// What an export would do, before it is made. The same call below both names of a project.
import { ok, route } from '../../../platform/http/route.ts'
import { EXPORT_EXAMPLES } from '../examples.ts'
import { ExportPreviewRequest } from '../schema.ts'
import { previewExport } from './preview.ts'
import { ExportPreview } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

/** Each asks the event store, as queries do. */
const PREVIEW_LIMIT = {
  name: 'export_preview',
  rates: [
    { count: 120, window_ms: 60_000 },
    { count: 1200, window_ms: 3_600_000 },
  ],
}

export const previewRoutes = [
  previewRoute('/api/projects/:project_id'),
  previewRoute('/api/environments/:project_id'),
]

function previewRoute(base: Base) {
  return route({
    method: 'POST',
    path: `${base}/batch_exports/preview/`,
    summary: 'What an export would do: columns, rows, names of files or the table, and the next runs',
    // Not `batch_export:read`: rows are data, which that scope does not open (decision 51).
    scope: 'batch_export:write',
    level: 'member',
    is_question: true,
    key_limit: PREVIEW_LIMIT,
    body: ExportPreviewRequest,
    examples: EXPORT_EXAMPLES,
    answers: { 200: ExportPreview },
    async handle({ services, project, body, now }) {
      return ok(await previewExport(services, project, body, now))
    },
  })
}
