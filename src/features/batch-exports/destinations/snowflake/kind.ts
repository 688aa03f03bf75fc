// A table in Snowflake.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { eventFilter, name, optionalName, personColumns, secret } from '../config-fields.ts'

const Config = z.strictObject({
  account: name(),
  database: name(),
  warehouse: name(),
  schema: name(),
  table_name: name().default('events'),
  role: optionalName(),
  user: secret(),
  authentication_type: z.enum(['password', 'keypair']).default('password'),
  password: secret().nullable().default(null),
  private_key: secret().nullable().default(null),
  private_key_passphrase: secret().nullable().default(null),
  ...personColumns,
  ...eventFilter,
})
export type SnowflakeConfig = z.output<typeof Config>

/** Where an account is served, from its name. */
export function snowflakeHost(account: string): string {
  const host = account
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/\.us-west-2$/, '')
  return `${host}.snowflakecomputing.${/\.cn-/.test(host) ? 'cn' : 'com'}`
}

export const snowflakeKind: DestinationKind<SnowflakeConfig> = {
  type: 'Snowflake',
  config: Config,
  example: {
    account: 'acme-eu',
    database: 'ANALYTICS',
    warehouse: 'COMPUTE_WH',
    schema: 'PUBLIC',
    table_name: 'events',
    user: 'LONGSHORE',
    authentication_type: 'keypair',
    private_key: '-----BEGIN PRIVATE KEY-----\nMIIEv…\n-----END PRIVATE KEY-----\n',
  },
  secrets: ['user', 'password', 'private_key', 'private_key_passphrase'],
  aims: ['account', 'user'],
  models: ['events', 'persons', 'sessions'],
  columns: 'snowflake',
  takes_custom_columns: true,
  faults({ account, authentication_type, password, private_key }) {
    // It becomes part of a host name.
    if (!/^[A-Za-z0-9._-]{1,200}$/.test(account)) {
      return { field: 'account', message: 'An account has letters, digits, dots, dashes and underscores.' }
    }
    if (authentication_type === 'password' && password === null) {
      return { field: null, message: 'Authentication by password needs `password`.' }
    }
    if (authentication_type === 'keypair' && private_key === null) {
      return { field: null, message: 'Authentication by key pair needs `private_key`.' }
    }
    return null
  },
  hosts: ({ account }) => [snowflakeHost(account)],
  target: ({ account, database, schema, table_name }) =>
    `snowflake://${account}/${database}.${schema}.${table_name}`,
  load: async () => (await import('./snowflake.ts')).snowflake,
}
