// Where configs are shown: below both names of a project and for the current one, all of them and those of each family.
import type { Family } from '../families.ts'

const PROJECTS = ['/api/projects/:project_id', '/api/environments/:project_id'] as const

const SETS = {
  plugin_configs: 'plugins',
  pipeline_destination_configs: 'pipeline_destinations',
  pipeline_frontend_apps_configs: 'pipeline_frontend_apps',
  pipeline_import_apps_configs: 'pipeline_import_apps',
  pipeline_transformation_configs: 'pipeline_transformations',
} as const satisfies Record<string, Family>
type SetName = keyof typeof SETS

export type ConfigBase = `${(typeof PROJECTS)[number]}/${SetName}` | '/api/plugin_config'

export const CONFIG_BASES: readonly { base: ConfigBase; family: Family }[] = [
  ...PROJECTS.flatMap((project) =>
    (Object.keys(SETS) as SetName[]).map((name) => ({
      base: `${project}/${name}` as const,
      family: SETS[name],
    })),
  ),
  { base: '/api/plugin_config', family: 'plugins' },
]
