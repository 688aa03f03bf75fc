// A table in Snowflake.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection, DATABASE, SCHEMA, TABLE } from '../described.ts'
import { eventFilter, name, optionalName, personColumns, secret } from '../config-fields.ts'

const Config = z.strictObject({
  account: name().meta(connection('Account', 'Its identifier, as in the address of the account.')),
  user: secret().meta(connection('User', 'May create tables in the schema, and write to them.')),
  authentication_type: z
    .enum(['password', 'keypair'])
    .default('password')
    .meta(connection('Authentication', 'By a password, or by a key pair.')),
  password: secret().nullable().default(null).meta(connection('Password', 'For authentication by password.')),
  private_key: secret()
    .nullable()
    .default(null)
    .meta(connection('Private key', 'In PEM form, for authentication by key pair.')),
  private_key_passphrase: secret()
    .nullable()
    .default(null)
    .meta(connection('Passphrase', 'Of the private key, if it has one.')),
  role: optionalName().meta(connection('Role', "Null: the user's default.")),
  warehouse: name().meta(connection('Warehouse', 'Does the work of loading.')),
  database: name().meta(DATABASE),
  schema: name().meta(SCHEMA),
  table_name: name().default('events').meta(TABLE),
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
  name: 'Snowflake',
  category: 'warehouse',
  description: 'A table in Snowflake.',
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
  conditions: [
    {
      when: { authentication_type: ['password'] },
      holds: { password: { type: 'string' } },
      needs: ['password'],
    },
    {
      when: { authentication_type: ['keypair'] },
      holds: { private_key: { type: 'string' } },
      needs: ['private_key'],
    },
  ],
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
  table: ({ database, schema, table_name }) => `${database}.${schema}.${table_name}`,
  load: async () => (await import('./snowflake.ts')).snowflake,
}
