// Views on the same plugins. What the code can do decides where a plugin belongs; until there is code that decides, it
// belongs where it was made.
import { sql, type Statement } from '../../platform/db/sql.ts'

export const FAMILIES = [
  'plugins',
  'pipeline_destinations',
  'pipeline_frontend_apps',
  'pipeline_import_apps',
  'pipeline_transformations',
] as const
export type Family = (typeof FAMILIES)[number]

// Each is a condition on the row `p` of table plugin.
const DESTINATION = sql`coalesce(p.capabilities->'methods' ?| '{onEvent,composeWebhook}', false)`
const TRANSFORMATION = sql`coalesce(p.capabilities->'methods' ? 'processEvent', false)`
const OFFERS_NOTHING = sql`(
  jsonb_array_length(coalesce(p.capabilities->'methods', '[]')) = 0
    AND jsonb_array_length(coalesce(p.capabilities->'scheduled_tasks', '[]')) = 0
    AND jsonb_array_length(coalesce(p.capabilities->'jobs', '[]')) = 0)`
/** Code for here that does not load, or of which nothing is called, may be anything, but it is there. */
const HAS_BROKEN_CODE = sql`p.errors @> '[{"file": "index.ts"}]'`
const IMPORT_APP = sql`(
  coalesce(jsonb_array_length(p.capabilities->'scheduled_tasks') > 0, false)
  OR (p.capabilities ? 'methods' AND NOT ${DESTINATION} AND NOT ${TRANSFORMATION}
    AND NOT (${OFFERS_NOTHING} AND ${HAS_BROKEN_CODE})))`
const FRONTEND_APP = sql`(NOT p.capabilities ?| '{methods,scheduled_tasks}' AND NOT ${HAS_BROKEN_CODE})`
/** Neither says what it is, nor is it in one of the three families of the API's own. */
const IS_UNDECIDED = sql`(
  ${OFFERS_NOTHING}
  OR NOT (${DESTINATION} OR ${IMPORT_APP} OR ${FRONTEND_APP}))`

/** A condition on the row `p` of table plugin. */
export function isInFamily(family: Family): Statement {
  const isUndecidedHere = sql`(${IS_UNDECIDED} AND p.created_via_family = ${family})`
  const isUndecidedElsewhere = sql`(${IS_UNDECIDED} AND p.created_via_family NOT IN ('plugins', ${family}))`
  switch (family) {
    case 'plugins':
      return sql`true`
    case 'pipeline_destinations':
      return sql`(${DESTINATION} OR ${isUndecidedHere})`
    case 'pipeline_frontend_apps':
      return sql`((${FRONTEND_APP} AND NOT ${isUndecidedElsewhere}) OR ${isUndecidedHere})`
    case 'pipeline_import_apps':
      return sql`((${IMPORT_APP} AND NOT ${isUndecidedElsewhere}) OR ${isUndecidedHere})`
    case 'pipeline_transformations':
      return sql`(${TRANSFORMATION} OR ${isUndecidedHere})`
  }
}
