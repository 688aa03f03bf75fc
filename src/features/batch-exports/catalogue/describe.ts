// A kind of destination, told so that a form can be built without knowing it.
import type { Settings } from '../../../platform/services.ts'
import { FORMATS } from '../destinations/config-fields.ts'
import type { DestinationKind } from '../destinations/destination.ts'
import { TYPE_ALIASES } from '../destinations/index.ts'
import { configSchema } from './config-schema.ts'
import type { DestinationDescription } from './schema.ts'

export async function describeKind(
  kind: DestinationKind,
  { disabled_destinations }: Pick<Settings, 'disabled_destinations'>,
): Promise<DestinationDescription> {
  const { type, name, description, category, models, takes_custom_columns } = kind
  const { steps } = await kind.load()
  return {
    type,
    aliases: [...TYPE_ALIASES].filter(([, of]) => of === type).map(([alias]) => alias),
    name,
    description,
    category,
    is_available: !disabled_destinations.includes(type),
    models: [...models],
    takes_custom_columns,
    formats: kind.place === undefined ? [] : FORMATS,
    config: configSchema(kind),
    test_steps: steps.map((step) => ({ name: step.name, description: step.description })),
  }
}
