// Goes nowhere: to try schedules out.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection } from '../described.ts'
import { eventFilter } from '../config-fields.ts'

const Config = z.strictObject({
  arg: z.string().max(4096).default('').meta(connection('Remark', 'Kept, and of no effect.')),
  ...eventFilter,
})
export type NoOpConfig = z.output<typeof Config>

export const noOpKind: DestinationKind<NoOpConfig> = {
  type: 'NoOp',
  name: 'Nowhere',
  category: 'test',
  description: 'Goes nowhere: to try a schedule out.',
  config: Config,
  example: {},
  secrets: [],
  aims: [],
  models: ['events', 'persons', 'sessions'],
  columns: 'files',
  takes_custom_columns: true,
  hosts: () => [],
  target: () => 'nowhere',
  load: async () => (await import('./noop.ts')).noOp,
}
