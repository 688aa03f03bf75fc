// The destinations there are. A new one is a folder and a line here.
import type { DestinationKind } from './destination.ts'
import { azureBlobKind } from './azure-blob/kind.ts'
import { bigQueryKind } from './bigquery/kind.ts'
import { clickHouseKind } from './clickhouse/kind.ts'
import { databricksKind } from './databricks/kind.ts'
import { fileKind } from './file/kind.ts'
import { httpKind } from './http/kind.ts'
import { noOpKind } from './noop/kind.ts'
import { postgresKind } from './postgres/kind.ts'
import { redshiftKind } from './redshift/kind.ts'
import { s3Kind } from './s3/kind.ts'
import { snowflakeKind } from './snowflake/kind.ts'

/** Other names that PostHog's clients use for a type. */
export const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['AwsS3', 'S3'],
  ['S3Compatible', 'S3'],
])

export const DESTINATIONS: ReadonlyMap<string, DestinationKind> = new Map(
  [
    s3Kind,
    postgresKind,
    redshiftKind,
    bigQueryKind,
    snowflakeKind,
    httpKind,
    noOpKind,
    azureBlobKind,
    databricksKind,
    clickHouseKind,
    fileKind,
    // Each has its own type of configuration; whoever takes one from this list hands it what its schema gave.
  ].map((kind) => [kind.type, kind as unknown as DestinationKind]),
)
