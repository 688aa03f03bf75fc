// A table in BigQuery, with the fields of a service account's key.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection, layout, TABLE } from '../described.ts'
import { eventFilter, flag, httpUrl, name, personColumns, secret } from '../config-fields.ts'

// These become parts of addresses and of statements: nothing that means something there.
const projectId = () =>
  name().refine((text) => /^[a-z0-9][a-z0-9.:-]{0,99}$/i.test(text), {
    error: 'A project id has letters, digits, dashes, dots and colons.',
  })
const datasetId = () =>
  name().refine((text) => /^\w{1,1024}$/.test(text), {
    error: 'A dataset id has letters, digits and underscores.',
  })
// Shorter than BigQuery allows, because the stage's name is longer.
const tableId = () =>
  name().refine((text) => /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}\p{Pc}\p{Pd} ]{0,199}$/u.test(text), {
    error: 'A table id has up to 200 letters, digits, underscores, dashes and spaces.',
  })

const Config = z.strictObject({
  project_id: projectId().meta(connection('Project', 'Its id in Google Cloud.')),
  dataset_id: datasetId().meta(connection('Dataset', 'It must exist.')),
  client_email: secret().meta(connection('Client e-mail', '`client_email` of the key of a service account.')),
  private_key: secret().meta(
    connection('Private key', '`private_key` of the same key, with its line breaks.'),
  ),
  private_key_id: secret().meta(connection('Private key id', '`private_key_id` of the same key.')),
  token_uri: httpUrl().meta(connection('Token address', '`token_uri` of the same key.')),
  table_id: tableId().default('events').meta(TABLE),
  use_json_type: flag(false).meta(
    layout('JSON columns', 'Have the type JSON instead of STRING. It cannot change once the table has rows.'),
  ),
  ...personColumns,
  ...eventFilter,
})
export type BigQueryConfig = z.output<typeof Config>

export const bigQueryKind: DestinationKind<BigQueryConfig> = {
  type: 'BigQuery',
  name: 'BigQuery',
  category: 'warehouse',
  description: 'A table in Google BigQuery.',
  config: Config,
  example: {
    project_id: 'acme-analytics',
    dataset_id: 'longshore',
    table_id: 'events',
    private_key: '-----BEGIN PRIVATE KEY-----\nMIIEv…\n-----END PRIVATE KEY-----\n',
    private_key_id: '0a1b…',
    token_uri: 'https://oauth2.googleapis.com/token',
    client_email: 'export@acme-analytics.iam.gserviceaccount.com',
  },
  secrets: ['private_key', 'private_key_id', 'token_uri', 'client_email'],
  aims: ['project_id', 'token_uri', 'client_email'],
  models: ['events', 'persons', 'sessions'],
  columns: 'bigquery',
  takes_custom_columns: true,
  hosts: ({ token_uri }) => [new URL(token_uri).hostname],
  target: ({ project_id, dataset_id, table_id }) => `bigquery://${project_id}/${dataset_id}.${table_id}`,
  table: ({ project_id, dataset_id, table_id }) => `${project_id}.${dataset_id}.${table_id}`,
  load: async () => (await import('./bigquery.ts')).bigQuery,
}
