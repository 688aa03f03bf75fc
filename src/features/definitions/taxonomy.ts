// The catalogue as agents read it: lists of names with descriptions, and sample values, as text.
import type { Expr, Query } from '../../hogql/ast.ts'
import { parseSelect } from '../../hogql/parser.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'
import { runQuery } from '../events/run-query.ts'
import { constant, field } from '../events/tree.ts'
import { readGroupTypes } from '../persons/flush-queries.ts'
import { listPersonValues } from '../persons/queries.ts'
import { refreshCounts } from './count.ts'
import { eventConditions, isSeenOn, propertyConditions } from './filters.ts'
import { findEventDefinitionByName, listEventDefinitions, listPropertyDefinitions } from './queries.ts'
import type { PropertyDefinitionRow } from './schema.ts'
import type { TaxonomyQuery } from './taxonomy-schema.ts'

const MAX_PROPERTIES = 500
const MAX_VALUES = 25
const MAX_VALUE_LENGTH = 200

const EVENT_VALUES = parseSelect(`
  SELECT {property}, count() FROM events
  WHERE event = {event} AND timestamp > now() - INTERVAL 30 DAY AND isNotNull({property})
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {max}`)
const GROUP_VALUES = parseSelect(`
  SELECT {property}, count() FROM groups WHERE index = {index} AND isNotNull({property})
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {max}`)

type Project = { id: number; timezone: string }

export async function readTaxonomy(
  services: Services,
  db: Db,
  project: Project,
  query: TaxonomyQuery,
): Promise<string> {
  switch (query.kind) {
    case 'events':
      return eventsText(services, db, project, query)
    case 'event_properties':
      return eventPropertiesText(services, db, project, query.event_name)
    case 'entity_properties':
      return entityPropertiesText(db, project, query.entity)
    case 'event_property_values':
      return frequentValues(services, project, EVENT_VALUES, query.property_name, ['event', query.event_name])
    case 'entity_property_values':
      return entityValuesText(services, db, project, query.entity, query.property_name)
    case 'action_properties':
    case 'action_property_values':
      return 'No actions exist in the project.'
  }
}

/** Those that came most often first. */
async function eventsText(
  services: Services,
  db: Db,
  project: Project,
  page: { limit: number; offset: number },
): Promise<string> {
  await refreshCounts(services, project)
  const where = eventConditions(project.id, { exclude_hidden: true }, services.now())
  const rows = await listEventDefinitions(db, where, sql`volume DESC, name`, page)
  if (rows.length === 0) return 'No events exist in the project.'
  return ['events:', ...rows.map(({ name, description }) => lineOf(`\`${name}\``, description))].join('\n')
}

async function eventPropertiesText(
  services: Services,
  db: Db,
  project: Project,
  event: string,
): Promise<string> {
  await refreshCounts(services, project)
  const definition = await findEventDefinitionByName(db, project.id, event)
  if (!definition) return `The event ${event} does not exist in the taxonomy.`
  const shown = { exclude_hidden: true, event_names: [event], filter_by_event_names: true }
  const rows = await listProperties(db, propertyConditions(project.id, shown), isSeenOn(project.id, [event]))
  const about =
    definition.description === '' ? '' : `Description of \`${event}\`: ${definition.description}\n\n`
  return `${about}${propertiesText(rows, `the event ${event}`)}`
}

async function entityPropertiesText(db: Db, project: Project, entity: string): Promise<string> {
  const found = await findEntity(db, project.id, entity)
  if ('unknown' in found) return found.unknown
  const where = propertyConditions(project.id, { exclude_hidden: true, ...found })
  return propertiesText(await listProperties(db, where, sql`NULL::boolean`), `the entity ${entity}`)
}

/** The values of a property that come most often. */
async function frequentValues(
  services: Services,
  project: Project,
  query: Query,
  property: string,
  of: readonly [name: string, value: string | number],
): Promise<string> {
  const placeholders = new Map<string, Expr>([
    ['property', field('properties', property)],
    [of[0], constant(of[1])],
    ['max', constant(MAX_VALUES + 1)],
  ])
  const { rows } = await runQuery(services, project, { query, placeholders, max_rows: MAX_VALUES + 1 })
  return valuesText(rows.map(([value]) => value))
}

async function entityValuesText(
  services: Services,
  db: Db,
  project: Project,
  entity: string,
  property: string,
): Promise<string> {
  const found = await findEntity(db, project.id, entity)
  if ('unknown' in found) return found.unknown
  if (found.type === 'group')
    return frequentValues(services, project, GROUP_VALUES, property, ['index', found.group_type_index])
  const values = await listPersonValues(db, project.id, property, null, MAX_VALUES + 1)
  return valuesText(values.map(({ name }) => name))
}

type Entity = { type: 'person' } | { type: 'group'; group_type_index: number } | { unknown: string }

/** A person or a type of groups, also in the plural. */
async function findEntity(db: Db, projectId: number, entity: string): Promise<Entity> {
  const types = await readGroupTypes(db, [projectId])
  const isMeant = (name: string) => entity === name || entity === `${name}s`
  const type = types.find(({ name }) => isMeant(name))
  if (type) return { type: 'group', group_type_index: type.index }
  if (isMeant('person')) return { type: 'person' }
  const names = ['person', ...types.map(({ name }) => name)]
  return { unknown: `The entity ${entity} does not exist in the taxonomy. There are: ${names.join(', ')}.` }
}

function listProperties(
  db: Db,
  where: ReturnType<typeof propertyConditions>,
  isSeen: ReturnType<typeof isSeenOn>,
): Promise<PropertyDefinitionRow[]> {
  return listPropertyDefinitions(db, where, isSeen, { limit: MAX_PROPERTIES, offset: 0 })
}

/** By type, because that is what an agent must know to compare them. */
function propertiesText(rows: readonly PropertyDefinitionRow[], of: string): string {
  if (rows.length === 0) return `Properties do not exist in the taxonomy for ${of}.`
  const types = [...new Set(rows.map(({ property_type }) => property_type ?? 'Unknown'))]
  return types
    .flatMap((type) => [
      `<${type}>`,
      ...rows
        .filter(({ property_type }) => (property_type ?? 'Unknown') === type)
        .map(({ name, description }) => lineOf(name, description)),
      `</${type}>`,
    ])
    .join('\n')
}

function lineOf(name: string, description: string): string {
  return description === '' ? `- ${name}` : `- ${name} - ${description.replaceAll(/\s+/g, ' ')}`
}

/** Texts in quotes, so that "10" is not taken for a number. */
function valuesText(values: readonly unknown[]): string {
  if (values.length === 0) return 'The property does not have any values in the taxonomy.'
  const shown = values.slice(0, MAX_VALUES).map((value) => {
    const text = JSON.stringify(value)
    return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : text
  })
  return `${shown.join(', ')}${values.length > MAX_VALUES ? ' and many more distinct values.' : ''}`
}
