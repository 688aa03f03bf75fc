// A table in ClickHouse, reached over its HTTP interface.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection, DATABASE, TABLE } from '../described.ts'
import { eventFilter, httpUrl, name, personColumns, secret } from '../config-fields.ts'
import { ledgerFault } from '../ledger-name.ts'

// The address is given out again, and statements and settings travel in its query.
const serverUrl = () =>
  httpUrl().refine((text) => !/[?#]/.test(text), {
    error: 'This must be an address without query or fragment.',
  })

// Shorter than ClickHouse allows: names become names of files there, with several bytes for each character.
const objectName = () =>
  name().refine((text) => /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ .-]{0,63}$/u.test(text), {
    error: 'A name has up to 64 letters, digits, underscores, dashes, dots and spaces.',
  })

// It stands before the colon of a basic login.
const userName = () =>
  name().refine((text) => /^[^:\p{Cc}]{1,255}$/u.test(text), {
    error: 'A user name has up to 255 characters, without colons and control characters.',
  })

const Config = z.strictObject({
  url: serverUrl().meta(connection('Address', 'Of the HTTP interface, with its port.')),
  user: userName()
    .default('default')
    .meta(connection('User', 'May create, write and drop tables in the database.')),
  password: secret().nullable().default(null).meta(connection('Password', 'Null for a user without one.')),
  database: objectName().default('default').meta(DATABASE),
  table_name: objectName().default('events').meta(TABLE),
  ...personColumns,
  ...eventFilter,
})
export type ClickHouseConfig = z.output<typeof Config>

export const clickHouseKind: DestinationKind<ClickHouseConfig> = {
  type: 'ClickHouse',
  name: 'ClickHouse',
  category: 'warehouse',
  description: 'A table in ClickHouse, 25.8 or newer.',
  config: Config,
  example: {
    url: 'https://clickhouse.example.com:8443',
    user: 'longshore',
    password: 's3cret…',
    database: 'default',
    table_name: 'events',
  },
  // Not the user: most are called `default`, and that word would be blanked out of every message.
  secrets: ['password'],
  aims: ['url', 'user'],
  models: ['events', 'persons', 'sessions'],
  columns: 'clickhouse',
  takes_custom_columns: true,
  faults: ledgerFault,
  hosts: ({ url }) => [new URL(url).hostname],
  target: ({ url, database, table_name }) => `clickhouse://${new URL(url).host}/${database}.${table_name}`,
  table: ({ database, table_name }) => `${database}.${table_name}`,
  load: async () => (await import('./clickhouse.ts')).clickHouse,
}
