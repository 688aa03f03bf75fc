// A database of its own at a real ClickHouse, named by the environment (scripts/clickhouse), as a place for the
// conformance suite of destinations.
import { randomBytes } from 'node:crypto'
import { clickHouseKind } from '../../../src/features/batch-exports/destinations/clickhouse/kind.ts'
import type { DestinationKind } from '../../../src/features/batch-exports/destinations/destination.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { openOutbound } from '../../../src/platform/outbound/outbound.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { EVENT_TYPES } from './world.ts'

export type RealClickHouseWorld = World & {
  database: string
  /** The answer's rows by column name. */
  ask(statement: string): Promise<Record<string, unknown>[]>
}

const JSON_COLUMNS = ['properties', 'details']

export async function openRealWorld(address: string): Promise<RealClickHouseWorld> {
  const user = process.env.CLICKHOUSE_USER ?? 'default'
  const password = process.env.CLICKHOUSE_PASSWORD ?? ''
  const database = `longshore_test_${randomBytes(6).toString('hex')}`
  const ask = async (statement: string) => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const url = new URL('/?default_format=JSONEachRow&max_execution_time=900', address)
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body: statement })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  const tables = async () => {
    const found = await ask(`SELECT name FROM system.tables WHERE database = '${database}'`)
    return found.map(({ name }) => String(name))
  }
  await ask(`CREATE DATABASE ${database}`)
  const { hostname, port } = new URL(address)
  const proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const config = {
    url: `http://127.0.0.1:${proxy.port}`,
    user,
    password: password || null,
    database,
  }
  return {
    database,
    ask,
    kind: clickHouseKind as unknown as DestinationKind,
    config,
    wrong_credentials: { ...config, password: 'not the password' },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    async rows() {
      if (!(await tables()).includes('events')) return []
      return (await ask(`SELECT * FROM ${database}.events SETTINGS final = 1`)).map(readable)
    },
    async makeTableWithout(column) {
      const columns = Object.entries(EVENT_TYPES).filter(([name]) => name !== column)
      const definitions = columns.map(([name, type]) => `${name} ${type}`).join(', ')
      await ask(`CREATE TABLE ${database}.events (${definitions}) ENGINE = MergeTree ORDER BY uuid`)
    },
    leftovers: async () =>
      (await tables()).filter((name) => !['events', 'longshore_export_runs'].includes(name)),
    cuts: proxy.cuts,
    async close() {
      await outbound.close()
      await proxy.close()
      await ask(`DROP DATABASE ${database}`)
    },
  }
}

function readable(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (JSON_COLUMNS.includes(name) && typeof value === 'string')
        return [name, JSON.parse(value) as unknown]
      const is_instant = typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/.test(value)
      return [name, is_instant ? `${value.replace(' ', 'T')}Z` : value]
    }),
  )
}
