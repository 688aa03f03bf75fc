// A table in PostgreSQL.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection } from '../described.ts'
import { eventFilter, personColumns, port, sqlTable } from '../config-fields.ts'
import { ledgerFault } from '../ledger-name.ts'

const Config = z.strictObject({
  ...sqlTable,
  port: port(5432).meta(connection('Port', 'Of the server.')),
  ...personColumns,
  ...eventFilter,
})
export type PostgresConfig = z.output<typeof Config>

export const postgresKind: DestinationKind<PostgresConfig> = {
  type: 'Postgres',
  name: 'PostgreSQL',
  category: 'database',
  description: 'A table in PostgreSQL.',
  config: Config,
  example: {
    host: 'db.example.com',
    port: 5432,
    user: 'longshore',
    password: 's3cret…',
    database: 'analytics',
    schema: 'public',
    table_name: 'events',
  },
  secrets: ['user', 'password'],
  aims: ['user', 'host', 'port', 'database', 'has_self_signed_cert'],
  models: ['events', 'persons', 'sessions'],
  columns: 'postgres',
  takes_custom_columns: true,
  faults: ledgerFault,
  hosts: (config) => [config.host],
  target: ({ host, port, database, schema, table_name }) =>
    `postgres://${host}:${port}/${database} ${schema}.${table_name}`,
  table: ({ schema, table_name }) => `${schema}.${table_name}`,
  load: async () => (await import('./postgres.ts')).postgres,
}
