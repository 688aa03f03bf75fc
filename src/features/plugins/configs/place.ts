// Where a path leads: a project (the one it names, or the caller's current one) and a config in it, with the rights to
// both settled.
import type { Db } from '../../../platform/db/database.ts'
import type { ProjectInReach } from '../../../platform/http/access.ts'
import type { Caller, Level } from '../../../platform/http/caller.ts'
import { notFound } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { findProjectInReach } from '../../organizations/queries.ts'
import { findCurrentProjectId } from '../../projects/current.ts'
import type { Family } from '../families.ts'
import { getAccessLevel } from '../queries.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { assertMayConfigure, assertMayRead } from '../rules.ts'
import { findConfig, listPluginsOf } from './queries.ts'

export type Place = { project: ProjectInReach; level: Level }
export type Addressed = Place & { row: PluginConfigRow; plugin: PluginRow }

/** Paths without a project mean the current one. */
export type InPath = {
  services: Services
  db: Db
  caller: Caller
  project?: ProjectInReach
  level?: Level
}

const MAX_ID = 2 ** 31 - 1

/** For calls that only read. */
export async function reachConfigs(context: InPath): Promise<Place> {
  const place = await placeOf(context)
  assertMayRead(await getAccessLevel(context.db, place.project.organization_id))
  return place
}

/** For calls that change something. */
export async function reachToConfigure(context: InPath): Promise<Place> {
  const { db, services } = context
  const place = await placeOf(context)
  const access_level = await getAccessLevel(db, place.project.organization_id)
  assertMayConfigure(services.settings, access_level, place.level)
  return place
}

/** 404 for what is no id, unknown, another project's, or of another family. */
export async function getAddressed(db: Db, place: Place, family: Family, id: string): Promise<Addressed> {
  const project_id = place.project.id
  const row = isId(id) ? await findConfig(db, { project_id, family }, Number(id)) : undefined
  const [plugin] = row ? await listPluginsOf(db, project_id, [row.id]) : []
  if (!row || !plugin) throw notFound()
  return { ...place, row, plugin }
}

export function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID
}

async function placeOf({ db, caller, project, level }: InPath): Promise<Place> {
  if (project && level) return { project, level }
  const id = await findCurrentProjectId(db, caller)
  const found = id === null ? null : await findProjectInReach(db, caller, id)
  if (!found?.level) throw notFound()
  return { project: found.project, level: found.level }
}
