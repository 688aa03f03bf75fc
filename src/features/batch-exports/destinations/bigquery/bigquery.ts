// The BigQuery destination: through its REST API, so that every call passes the outbound gate.
import { randomUUID } from 'node:crypto'
import type { Destination, TestStep } from '../destination.ts'
import { openApi } from './api.ts'
import { dropStages, openDelivery } from './delivery.ts'
import { inspectBigQuery } from './inspect.ts'
import type { BigQueryConfig } from './kind.ts'
import { tableSql } from './table-sql.ts'
import { dropTable, findLocation, insertTable } from './tables.ts'

/** A third of what BigQuery takes at a time: a file is sent from memory. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

export const bigQuery = bigQueryAt('https://bigquery.googleapis.com')

export function bigQueryAt(base_url: string): Destination<BigQueryConfig> {
  return {
    encoding: () => ({ format: 'JSONLines', compression: 'gzip', max_bytes: MAX_FILE_BYTES, max_rows: null }),
    steps: steps(base_url),
    tableSql: (config, _run, columns) => tableSql(config, columns),
    open: (context) => openDelivery(base_url, context),
    inspect: (context) => inspectBigQuery(base_url, context),
    async *sweep(context) {
      const api = openApi(base_url, context)
      for (const run of context.runs) yield* dropStages(api, run)
    },
  }
}

function steps(base_url: string): TestStep<BigQueryConfig>[] {
  return [
    {
      name: 'Project',
      description: 'Checks that the service account is accepted and may use the project.',
      async run(context) {
        await openApi(base_url, context).call('/datasets?maxResults=1')
      },
    },
    {
      name: 'Dataset',
      description: 'Checks that the dataset exists.',
      async run(context) {
        await findLocation(openApi(base_url, context))
      },
    },
    {
      name: 'Table',
      description:
        'Checks that a table can be created in the dataset; the one made for this is dropped again.',
      async run(context) {
        const api = openApi(base_url, context)
        const name = `longshore_test_${randomUUID().replaceAll('-', '')}`
        await insertTable(api, name, { schema: { fields: [{ name: 'uuid', type: 'STRING' }] } })
        await dropTable(api, name)
      },
    },
  ]
}
