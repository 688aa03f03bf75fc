// What ClickHouse says is told without its SQL and its names.
import { ClickHouseError } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { QueryFault } from '../event-store.ts'
import { faultOf } from './faults.ts'

const said = (type: string, message: string) => faultOf(new ClickHouseError({ code: '36', type, message }))

it('named queries that grow too large are told from other arguments that it does not like', () => {
  const grown = said(
    'BAD_ARGUMENTS',
    'Query tree is too big. Maximum: 500000. In scope WITH q0 AS (SELECT 1)',
  )
  expect(grown).toBeInstanceOf(QueryFault)
  expect(grown.message).toBe(
    'The query grows too large: ClickHouse puts a query of WITH wherever it is used. Use it fewer times.',
  )
  expect(said('BAD_ARGUMENTS', 'Something about ev_1').message).toBe(
    'ClickHouse cannot answer the query (BAD_ARGUMENTS).',
  )
})
