// What agents can ask of the catalogue, by PostHog's names.
import { z } from 'zod'
import { int } from '../../platform/http/fields.ts'
import type { Scope } from '../../platform/http/scopes.ts'

const MAX_EVENTS = 500

const event_name = z.string().min(1)
const property_name = z.string().min(1)
const entity = z.string().min(1).describe('`person`, or the name of a type of groups.')

const Query = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('events'),
    limit: int({ min: 1, max: MAX_EVENTS }).default(MAX_EVENTS),
    offset: int({ min: 0 }).default(0),
  }),
  z.looseObject({ kind: z.literal('event_properties'), event_name }),
  z.looseObject({ kind: z.literal('entity_properties'), entity }),
  z.looseObject({ kind: z.literal('event_property_values'), event_name, property_name }),
  z.looseObject({ kind: z.literal('entity_property_values'), entity, property_name }),
  z.looseObject({ kind: z.literal('action_properties') }),
  z.looseObject({ kind: z.literal('action_property_values') }),
])

export const ReadTaxonomy = z.object({ args: z.looseObject({ query: Query }) })
export type TaxonomyQuery = z.output<typeof Query>

/** One of which a key needs, besides what the path asks for: values are data, and names are not. */
export const SCOPES_OF_KIND: Readonly<Record<TaxonomyQuery['kind'], readonly Scope[]>> = {
  events: ['event_definition:read'],
  event_properties: ['property_definition:read'],
  entity_properties: ['property_definition:read'],
  event_property_values: ['query:read'],
  entity_property_values: ['person:read', 'query:read'],
  action_properties: ['property_definition:read'],
  action_property_values: ['property_definition:read'],
}
