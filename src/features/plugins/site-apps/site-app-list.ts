// Which site apps a project has. Client libraries ask for it with every page, so the answers are kept for a moment, or
// until something changes.
import type { Services } from '../../../platform/services.ts'
import { siteAppPath } from './address.ts'
import { listSiteApps } from './queries.ts'

export type SiteApp = { id: number; url: string; type: 'site_app' }

const KEPT_MS = 5_000
const MAX_PROJECTS = 10_000

type Kept = { list: Promise<readonly SiteApp[]>; until_ms: number }

export class SiteAppList {
  readonly #services: Pick<Services, 'db' | 'changes' | 'now'>
  readonly #kept = new Map<number, Kept>()
  readonly #unlisten: readonly (() => void)[]

  constructor(services: Pick<Services, 'db' | 'changes' | 'now'>) {
    this.#services = services
    const forget = () => this.#kept.clear()
    this.#unlisten = [
      services.changes.listen('plugin', forget),
      services.changes.listen('plugin-config', forget),
    ]
  }

  of(project_id: number): Promise<readonly SiteApp[]> {
    const now_ms = this.#services.now().getTime()
    const kept = this.#kept.get(project_id)
    if (kept && kept.until_ms > now_ms) return kept.list
    const list = this.#find(project_id)
    if (this.#kept.size >= MAX_PROJECTS) this.#kept.clear()
    this.#kept.set(project_id, { list, until_ms: now_ms + KEPT_MS })
    list.catch(() => this.#kept.delete(project_id))
    return list
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten()
  }

  async #find(project_id: number): Promise<readonly SiteApp[]> {
    const places = await listSiteApps(this.#services.db, project_id)
    return places.map((place) => ({ id: place.id, url: siteAppPath(place), type: 'site_app' }))
  }
}
