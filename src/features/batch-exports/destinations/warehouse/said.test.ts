// Messages as the warehouses write them, and what of them is shown to the owner of an export.
import { expect, it } from 'vitest'
import { said } from './said.ts'

it.each([
  // BigQuery
  ['Bad int64 value: topsecret', 'Bad int64 value ….'],
  ["Invalid timestamp: 'topsecret'", 'Invalid timestamp ….'],
  [
    'Error while reading data, error message: Could not convert value to integer. Field: team_id; Value: topsecret',
    'Error while reading data, error message: Could not convert value to integer. Field: team_id; Value ….',
  ],
  ['Required field wanted cannot be null', 'Required field wanted cannot be null.'],
  [
    'Not found: Dataset shop-1:analytics was not found.',
    'Not found: Dataset shop-1:analytics was not found.',
  ],
  // Snowflake
  ["Numeric value 'topsecret' is not recognized", 'Numeric value … is not recognized.'],
  ["Numeric value 'top'secret' is not recognized", 'Numeric value … is not recognized.'],
  [
    `DML operation to table EVENTS failed on column "plan" with error: String 'topsecret' is too long and would be truncated`,
    `DML operation to table EVENTS failed on column "plan" with error: String … is too long and would be truncated.`,
  ],
  ["Object 'SHOP.PUBLIC.EVENTS' does not exist.", "Object 'SHOP.PUBLIC.EVENTS' does not exist."],
  // Databricks
  [
    `[CAST_INVALID_INPUT] The value 'topsecret' of the type "STRING" cannot be cast to "INT"`,
    '[CAST_INVALID_INPUT] The value … of the type "STRING" cannot be cast to "INT".',
  ],
  [
    '[MALFORMED_RECORD_IN_PARSING] Malformed records are detected in record parsing: [topsecret]',
    '[MALFORMED_RECORD_IN_PARSING] Malformed records are detected in record parsing ….',
  ],
  [
    'CHECK constraint known (event = 1) violated by row with values: - event : topsecret',
    'CHECK constraint known (event = 1) violated by row with values ….',
  ],
  [
    '[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: wanted',
    '[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: wanted.',
  ],
])('%s', (message, shown) => {
  expect(said('It', message, [])).toBe(`It: ${shown}`)
})

it('leaves out secrets, and adds what to do', () => {
  expect(said('It', 'no access for me@example.com', ['me@example.com'], 'Grant it.')).toBe(
    'It: no access for ***. Grant it.',
  )
})
