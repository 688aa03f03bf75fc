// Clients of warehouses and object stores, as far as PostHog's own apps use them. They call addresses by fetch like any
// code of the app, and databases by the host: the gate and the limits are the same.
import { BigQuery } from './bigquery.ts'
import { Storage } from './cloud-storage.ts'
import { Kinesis } from './kinesis.ts'
import { takeKit, type Kit } from './kit.ts'
import { Client, Pool } from './pg.ts'
import { createPool } from './pool.ts'
import { PubSub } from './pubsub.ts'
import { S3 } from './s3.ts'
import { configure, createConnection } from './snowflake.ts'
import { PassThrough } from './stream.ts'

export function start(kit: Kit): Record<string, object> {
  takeKit(kit)
  return {
    '@google-cloud/bigquery': { BigQuery },
    '@google-cloud/pubsub': { PubSub },
    '@google-cloud/storage': { Storage },
    'aws-sdk': { Kinesis, S3 },
    'aws-sdk/clients/s3': S3,
    'generic-pool': { createPool },
    pg: { Client, Pool },
    'snowflake-sdk': { configure, createConnection },
    stream: { PassThrough },
  }
}
