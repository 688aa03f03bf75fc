import { expect, it } from 'vitest'
import { bigQueryKind } from './kind.ts'
import { mergeScript } from './merge-script.ts'

const config = {
  ...bigQueryKind.config.parse(bigQueryKind.example),
  project_id: 'p',
  dataset_id: 'd',
  table_id: 'events',
}

// BigQuery compares no DATETIME, DATE or STRING with a TIMESTAMP: "No matching signature for operator BETWEEN".
it.each([
  ['TIMESTAMP', '`timestamp`'],
  ['DATETIME', 'CAST(`timestamp` AS DATETIME)'],
  ['DATE', 'CAST(`timestamp` AS DATE)'],
  ['STRING', 'CAST(`timestamp` AS STRING)'],
])('the time that is searched is of the type of the table’s column: %s', (type, value) => {
  const script = mergeScript({
    config,
    run: { model: 'events', has_custom_columns: false, is_repair: false, told_apart_by: ['timestamp'] },
    columns: [
      { name: 'uuid', kind: 'text' },
      { name: 'timestamp', kind: 'timestamp' },
    ],
    types: new Map([
      ['uuid', 'STRING'],
      ['timestamp', type],
    ]),
    stage: 'stage',
  })
  expect(script).toContain(`DECLARE first_at DEFAULT (SELECT MIN(${value}) FROM \`p.d.stage\`)`)
  expect(script).toContain(`DECLARE last_at DEFAULT (SELECT MAX(${value}) FROM \`p.d.stage\`)`)
})
