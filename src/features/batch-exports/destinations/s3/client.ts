// The client of S3 for one configuration. Nothing of the server's own AWS settings goes into it: neither credentials
// nor endpoints from the environment or the home folder, which belong to the operator and not to the export's owner.
import { S3Client } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { Refused } from '../destination.ts'
import { s3Fault } from './faults.ts'
import type { S3Config } from './kind.ts'

const TRIES = 5

/** By default it writes to the console. What matters of an error is in the error. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

export type Bucket = {
  client: S3Client
  name: string
  /** Goes with every object that is written. */
  encryption: { ServerSideEncryption?: 'AES256' | 'aws:kms'; SSEKMSKeyId?: string }
  close(): void
}

export function openBucket(config: S3Config, outbound: Outbound): Bucket {
  const agents = outbound.agents()
  const client = new S3Client({
    region: config.region,
    credentials: credentialsOf(config),
    ...(config.endpoint_url === null ? {} : { endpoint: config.endpoint_url }),
    forcePathStyle: !config.use_virtual_style_addressing,
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    retryMode: 'standard',
    maxAttempts: TRIES,
    // Their defaults are refused by older stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: SILENT,
    requestHandler: new NodeHttpHandler({ httpAgent: agents.http, httpsAgent: agents.https }),
  })
  return {
    client,
    name: config.bucket_name,
    encryption: encryptionOf(config),
    close() {
      client.destroy()
      agents.close()
    },
  }
}

function credentialsOf({ aws_access_key_id, aws_secret_access_key }: S3Config) {
  if (aws_access_key_id === null || aws_secret_access_key === null) {
    throw new Refused('S3 needs `aws_access_key_id` and `aws_secret_access_key` in the configuration.')
  }
  return { accessKeyId: aws_access_key_id, secretAccessKey: aws_secret_access_key }
}

function encryptionOf({ encryption, kms_key_id }: S3Config): Bucket['encryption'] {
  return {
    ...(encryption === null ? {} : { ServerSideEncryption: encryption }),
    ...(kms_key_id === null ? {} : { SSEKMSKeyId: kms_key_id }),
  }
}

/** One exchange with S3; what goes wrong is said in the words of destinations. */
export async function asking<T>(signal: AbortSignal | null, exchange: () => Promise<T>): Promise<T> {
  try {
    return await exchange()
  } catch (error) {
    signal?.throwIfAborted()
    throw s3Fault(error)
  }
}
