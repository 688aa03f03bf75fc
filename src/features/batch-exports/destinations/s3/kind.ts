// S3 and whatever speaks its protocol.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection } from '../described.ts'
import {
  FILE_CONDITIONS,
  fileOutputFault,
  eventFilter,
  fileOutput,
  flag,
  name,
  optionalName,
  secret,
} from '../config-fields.ts'
import { ENDPOINT, endpointFault, endpointOf } from '../endpoint.ts'
import { PREFIX, prefixFault } from '../prefix.ts'

const Config = z.strictObject({
  bucket_name: name().meta(connection('Bucket', 'It must exist.')),
  region: name().meta(connection('Region', 'Where the bucket is, for example eu-central-1.')),
  aws_access_key_id: secret()
    .nullable()
    .default(null)
    .meta(connection('Access key id', 'Of a user who may put and delete objects below the prefix.')),
  aws_secret_access_key: secret()
    .nullable()
    .default(null)
    .meta(connection('Secret access key', 'Belongs to the access key id.')),
  endpoint_url: optionalName().meta(ENDPOINT),
  use_virtual_style_addressing: flag(false).meta(
    connection('Virtual-hosted addresses', 'Puts the bucket into the host name instead of the path.'),
  ),
  encryption: z
    .enum(['AES256', 'aws:kms'])
    .nullable()
    .default(null)
    .meta(connection('Encryption at rest', 'By the store, beside what the bucket does by itself.')),
  kms_key_id: optionalName().meta(
    connection('KMS key', 'For the encryption aws:kms; null for the usual key.'),
  ),
  prefix: name().meta(PREFIX),
  ...fileOutput,
  ...eventFilter,
})
export type S3Config = z.output<typeof Config>

export const s3Kind: DestinationKind<S3Config> = {
  type: 'S3',
  name: 'S3',
  category: 'files',
  description: 'Files in a bucket of Amazon S3, or of anything that speaks its protocol.',
  config: Config,
  example: {
    bucket_name: 'acme-events',
    region: 'eu-central-1',
    prefix: 'longshore/{export_id}/',
    aws_access_key_id: 'AKIA…',
    aws_secret_access_key: 'wJal…',
    file_format: 'Parquet',
    compression: 'zstd',
  },
  secrets: ['aws_access_key_id', 'aws_secret_access_key'],
  aims: ['bucket_name', 'region', 'endpoint_url', 'use_virtual_style_addressing'],
  models: ['events', 'persons', 'sessions'],
  columns: 'files',
  takes_custom_columns: true,
  conditions: [
    { when: { encryption: [null, 'AES256'] }, holds: { kms_key_id: { enum: [null, ''] } } },
    ...FILE_CONDITIONS,
  ],
  faults(config) {
    // Both become part of a host name or a path.
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(config.bucket_name)) {
      return {
        field: 'bucket_name',
        message:
          'A bucket name has 2 to 255 letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
      }
    }
    if (!/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(config.region)) {
      return { field: 'region', message: 'A region has letters, digits and dashes.' }
    }
    const prefix = prefixFault(config.prefix)
    if (prefix !== null) return { field: 'prefix', message: prefix }
    const endpoint = endpointFault(config.endpoint_url)
    if (endpoint !== null) return endpoint
    if (config.kms_key_id !== null && config.encryption !== 'aws:kms') {
      return { field: 'kms_key_id', message: 'A KMS key goes with the encryption aws:kms.' }
    }
    return fileOutputFault(config)
  },
  hosts: ({ endpoint_url }) => (endpoint_url === null ? [] : [new URL(endpoint_url).hostname]),
  place: ({ bucket_name, endpoint_url }) => `${serverOf(endpoint_url)}/${bucket_name}`,
  target: ({ bucket_name, prefix }) => `s3://${bucket_name}/${prefix}`,
  load: async () => (await import('./s3.ts')).s3,
}

const AMAZON = /^s3([.-][a-z0-9-]+)*\.amazonaws\.com(\.cn)?$/

/** A bucket is one bucket at every address that Amazon gives it, and at those that are called when none is given. */
function serverOf(endpoint_url: string | null): string {
  if (endpoint_url === null || AMAZON.test(new URL(endpoint_url).hostname)) return ''
  return endpointOf(endpoint_url)
}
