// Verifications of an export: look at them, ask for one. The same calls below both names of a project.
import { ok, route } from '../../../platform/http/route.ts'
import { getExport } from '../queries.ts'
import { cursorPage, cursorPaged, readCursor } from '../runs/cursor.ts'
import { presentVerification } from './present.ts'
import { getVerification, listVerifications } from './read-queries.ts'
import { readSubject, requestVerification } from './request.ts'
import { Verification, VerificationQuery, VerifyRequest } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const PAGE_SIZE = 50

export const verificationRoutes = [
  ...verificationRoutesBelow('/api/projects/:project_id'),
  ...verificationRoutesBelow('/api/environments/:project_id'),
]

function verificationRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/verifications/`,
      summary: 'List the verifications of an export, newest first',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      query: VerificationQuery,
      answers: { 200: cursorPaged(Verification) },
      async handle({ db, item, query, request }) {
        const cursor = readCursor(query.cursor)
        const nearest = await listVerifications(db, item, cursor, PAGE_SIZE + 1)
        return ok(cursorPage(nearest, PAGE_SIZE, cursor, request, presentVerification))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/verifications/:id/`,
      summary: 'One verification: what was read, the verdict, and each problem with what to do',
      scope: 'batch_export:read',
      level: 'member',
      async item({ db, project, params }) {
        return getVerification(db, await getExport(db, project.id, params.batch_export_id), params.id)
      },
      answers: { 200: Verification },
      handle: async ({ item }) => ok(presentVerification(item)),
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/verify/`,
      summary:
        'Read back what was delivered, of a run, a range or everything, and compare it with the events',
      scope: 'batch_export:write',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      body: VerifyRequest,
      examples: { 'Everything the export delivered': {} },
      answers: { 200: Verification },
      async handle({ db, item, body, now }) {
        const subject = await readSubject(db, item, body, now)
        const row = await db.transaction((tx) => requestVerification(tx, item, subject, now))
        return ok(presentVerification(row))
      },
    }),
  ]
}
