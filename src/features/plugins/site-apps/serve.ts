// The path that pages load site apps from. Whoever knows the address may have the script: it is meant for everybody.
import type { FastifyInstance } from 'fastify'
import { isSameText } from '../../../lib/same-text.ts'
import type { Db } from '../../../platform/db/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { addOpenPath } from '../../../platform/http/open-path.ts'
import type { Services } from '../../../platform/services.ts'
import { isId } from '../configs/place.ts'
import { siteAppHash } from './address.ts'
import { findSiteApp, type SiteAppRow } from './queries.ts'
import { siteScript } from './script.ts'
import { SiteAppList, type SiteApp } from './site-app-list.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_A_MINUTE = 'public, max-age=60'

type SiteAppsOf = (project_id: number) => Promise<readonly SiteApp[]>

/** Serves the scripts, and gives the list of them for those who tell pages what to load. */
export function addSiteApps(app: FastifyInstance, services: Services): SiteAppsOf {
  const list = new SiteAppList(services)
  app.addHook('onClose', async () => list.close())

  addOpenPath(app, '/site_app/:id/:token/:hash', ['GET'], async (request, reply) => {
    const { id, token, hash } = request.params as { id: string; token: string; hash: string }
    const row = await getSiteApp(services.db, id, token)
    request.notes.project_id = row.project_id
    return reply
      .type('application/javascript; charset=utf-8')
      .header('cache-control', hash === siteAppHash(row) ? FOR_EVER : FOR_A_MINUTE)
      .send(siteScript(row))
  })
  return (project_id) => list.of(project_id)
}

async function getSiteApp(db: Db, id: string, token: string): Promise<SiteAppRow> {
  const row = isId(id) ? await findSiteApp(db, Number(id)) : undefined
  if (row && isSameText(row.web_token, token)) return row
  throw new ApiError('missing_site_app_source', 'There is no such script.')
}
