// A table in Amazon Redshift: PostgreSQL's protocol, but no COPY from the client.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection, layout } from '../described.ts'
import { eventFilter, personColumns, port, sqlTable } from '../config-fields.ts'
import { ledgerFault } from '../ledger-name.ts'

const Config = z.strictObject({
  ...sqlTable,
  port: port(5439).meta(connection('Port', 'Of the cluster.')),
  properties_data_type: z
    .enum(['varchar', 'super'])
    .default('varchar')
    .meta(
      layout('Type of JSON columns', 'SUPER can be queried as JSON; VARCHAR holds 65,535 bytes at most.'),
    ),
  mode: z
    .enum(['INSERT'], { error: 'Only the mode INSERT is supported.' })
    .default('INSERT')
    .meta(layout('Mode', 'How rows get into the table.')),
  ...personColumns,
  ...eventFilter,
})
export type RedshiftConfig = z.output<typeof Config>

export const redshiftKind: DestinationKind<RedshiftConfig> = {
  type: 'Redshift',
  name: 'Amazon Redshift',
  category: 'warehouse',
  description: 'A table in Amazon Redshift.',
  config: Config,
  example: {
    host: 'acme.0a1b2c.eu-central-1.redshift.amazonaws.com',
    port: 5439,
    user: 'longshore',
    password: 's3cret…',
    database: 'analytics',
    schema: 'public',
    table_name: 'events',
    properties_data_type: 'super',
  },
  secrets: ['user', 'password'],
  aims: ['user', 'host', 'port', 'database', 'has_self_signed_cert'],
  // What PostHog's mode COPY takes. Its clients send it with INSERT too, and credentials that nobody uses are not kept.
  ignores: ['copy_inputs'],
  models: ['events', 'persons', 'sessions'],
  columns: 'redshift',
  takes_custom_columns: true,
  faults: ledgerFault,
  hosts: (config) => [config.host],
  target: ({ host, port, database, schema, table_name }) =>
    `redshift://${host}:${port}/${database} ${schema}.${table_name}`,
  table: ({ schema, table_name }) => `${schema}.${table_name}`,
  load: async () => (await import('./redshift.ts')).redshift,
}
