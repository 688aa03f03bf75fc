// The kinds of destinations as the API gives them.
import { z } from 'zod'
import { MODELS } from '../definition.ts'
import { CATEGORIES } from '../destinations/destination.ts'
import { FILE_FORMATS } from '../formats/encoding.ts'

const levels = z.object({ min: z.int(), max: z.int() })

const DestinationDescription = z
  .object({
    type: z.string().describe('What `destination.type` is called.'),
    aliases: z.array(z.string()).describe('Other names that `destination.type` may have.'),
    name: z.string(),
    description: z.string(),
    category: z.enum(CATEGORIES),
    is_available: z.boolean().describe('False: whoever runs this server has switched it off.'),
    models: z.array(z.enum(MODELS)),
    takes_custom_columns: z.boolean().describe('Whether `hogql_query` may choose the columns.'),
    formats: z
      .array(
        z.object({
          name: z.enum(FILE_FORMATS),
          compressions: z.array(
            z.object({ name: z.string(), levels: levels.nullable().describe('Null: there is one.') }),
          ),
        }),
      )
      .describe(
        'Formats of files, and what each can be compressed by. None where rows go to a table or an address.',
      ),
    config: z
      .record(z.string(), z.unknown())
      .describe(
        '`destination.config` as JSON Schema. Each field has `title`, `description` and `x-part`, the part of a form it belongs to: `connection`, `layout` or `rows`. Secrets are `writeOnly`. `allOf` says what the value of one field asks of others.',
      ),
    test_steps: z
      .array(z.object({ name: z.string(), description: z.string() }))
      .describe('What `run_test_step_new/` takes one by one.'),
  })
  .meta({ id: 'BatchExportDestinationDescription' })
export type DestinationDescription = z.input<typeof DestinationDescription>

export const DestinationDescriptions = z.object({ results: z.array(DestinationDescription) })
