// A table in Databricks. Credentials stand in the configuration: there are no linked integrations.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection, layout, SCHEMA, TABLE } from '../described.ts'
import { eventFilter, flag, host, name, secret } from '../config-fields.ts'

/** Names that Unity Catalog allows; they are parts of paths as well. */
const catalogName = () =>
  name().refine((text) => /^[^\s./\\'`\p{Cc}]{1,255}$/u.test(text), {
    error: 'A name has up to 255 characters, without blanks, dots, slashes and quotes.',
  })

const warehousePath = () =>
  name().refine((text) => /^\/?sql\/1\.0\/(warehouses|endpoints)\/[A-Za-z0-9]+$/.test(text), {
    error: 'This must be the HTTP path of a SQL warehouse: /sql/1.0/warehouses/<id>.',
  })

const Config = z.strictObject({
  server_hostname: host().meta(connection('Server hostname', 'Of the workspace.')),
  http_path: warehousePath().meta(connection('HTTP path', 'Of a SQL warehouse: /sql/1.0/warehouses/<id>.')),
  client_id: secret().meta(connection('Client id', 'Of a service principal.')),
  client_secret: secret().meta(connection('Client secret', 'Of the same service principal.')),
  catalog: catalogName().meta(connection('Catalog', 'It must exist.')),
  schema: catalogName().meta(SCHEMA),
  table_name: catalogName().meta(TABLE),
  use_variant_type: flag(true).meta(
    layout('VARIANT columns', 'JSON has the type VARIANT instead of STRING.'),
  ),
  use_automatic_schema_evolution: flag(true).meta(
    layout('New columns', 'Adds columns that the table lacks. Otherwise they are left out.'),
  ),
  ...eventFilter,
})
export type DatabricksConfig = z.output<typeof Config>

export const databricksKind: DestinationKind<DatabricksConfig> = {
  type: 'Databricks',
  name: 'Databricks',
  category: 'warehouse',
  description: 'A table in a catalog of Databricks.',
  config: Config,
  example: {
    server_hostname: 'dbc-0a1b2c3d.cloud.databricks.com',
    http_path: '/sql/1.0/warehouses/0a1b2c3d4e5f',
    catalog: 'main',
    schema: 'longshore',
    table_name: 'events',
    client_id: '0a1b…',
    client_secret: 'dose…',
  },
  secrets: ['client_id', 'client_secret'],
  aims: ['server_hostname', 'http_path'],
  models: ['events', 'persons', 'sessions'],
  columns: 'databricks',
  takes_custom_columns: true,
  hosts: ({ server_hostname }) => [server_hostname],
  target: ({ server_hostname, catalog, schema, table_name }) =>
    `databricks://${server_hostname}/${catalog}.${schema}.${table_name}`,
  table: ({ catalog, schema, table_name }) => `${catalog}.${schema}.${table_name}`,
  load: async () => (await import('./databricks.ts')).databricks,
}
