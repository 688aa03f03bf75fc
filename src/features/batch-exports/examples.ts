// Bodies for the documentation.
import { DESTINATIONS } from './destinations/index.ts'
import type { ExportReplace } from './schema.ts'

type Example = Pick<ExportReplace, 'name' | 'destination' | 'interval'>

/** An export to each kind of destination, by its name. */
export const EXPORT_EXAMPLES: Readonly<Record<string, Example>> = Object.fromEntries(
  [...DESTINATIONS.values()].map(({ type, example }) => [
    type,
    { name: `Events to ${type}`, interval: 'hour', destination: { type, config: example } },
  ]),
)

export const RANGE_EXAMPLES = {
  'A week': { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-09T00:00:00Z' },
}
