import { DuckDBInstance, BIGINT, VARCHAR } from '@duckdb/node-api'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { makeStore, growTo } from './sample-store.ts'
import { selectColumns } from './bare.ts'
import { selectRows } from '../../../src/features/batch-exports/source/select.ts'
import { copySql, countSql } from '../../../src/platform/event-store/duckdb/export-sql.ts'
import { engineType, engineValue } from '../../../src/platform/event-store/duckdb/bind.ts'
const N = Number(process.env.N ?? 100000)
const store = process.argv[2] ? JSON.parse(process.argv[2]) : await makeStore()
if (!process.argv[2]) { await growTo(store, N); console.log(JSON.stringify(store)) }
const instance = await DuckDBInstance.create(store.folder + '/events/events.duckdb', { memory_limit: '512MB', threads: '2' })
const c = await instance.connect()
await c.run("SET TimeZone='UTC'")
const def = (type: string, config: object) => ({ model: 'events', destination_type: type, config, hogql_query: null, filters: null, timezone: 'UTC' }) as never
const bounds = { selection: 'timestamp', interval: { start: new Date(store.start_at), end: new Date(store.end_at) }, seq_from: 0, seq_to: store.events } as never
const files = selectRows({ id: store.project_id, timezone: 'UTC' }, def('File', {}), 'files', bounds, new Date())
const pgs = selectRows({ id: store.project_id, timezone: 'UTC' }, def('Postgres', {}), 'postgres', bounds, new Date())
console.log(files.rows.sql); console.log(pgs.rows.sql)
const out = '/tmp/r-profile-out'
async function t(name: string, sql: string, parameters: readonly unknown[] = [], times = 5) {
  const cpus: number[] = [], walls: number[] = []
  for (let i = 0; i < times; i++) {
    const cpu = process.cpuUsage(), w = performance.now()
    const rows = await (await c.run(sql, parameters.map(engineValue as never), parameters.map(engineType as never))).getRowsJson()
    const u = process.cpuUsage(cpu); cpus.push((u.user + u.system) / 1e6); walls.push((performance.now() - w) / 1000)
    if (i === 0 && name.startsWith('EXPLAIN')) { console.log(rows.flat().join('\n')); return }
  }
  console.log(name.padEnd(60), 'cpu min', Math.min(...cpus).toFixed(3), 'wall min', Math.min(...walls).toFixed(3), 'med', cpus.sort()[2]?.toFixed(3), walls.sort()[2]?.toFixed(3))
}
const count = countSql(files.rows, 16384)
await t('countBlocks', count.sql, count.parameters)
const pieces = 2
const to = Math.min(50_000, store.events)
const mid = { from: 0, to }
for (const [name, format] of [['parquet zstd', { kind: 'parquet', compression: 'zstd' }], ['parquet snappy', { kind: 'parquet', compression: 'snappy' }], ['json-lines', { kind: 'json-lines' }], ] as const) {
  const s = copySql(files.rows, mid, format as never, out)
  await t(`50k ${name} ours`, s.sql, s.parameters)
  await t(`50k ${name} ours without ORDER BY`, s.sql.replace(/ ORDER BY r\.position|\) ORDER BY position/, (x) => x.startsWith(')') ? ')' : ''), s.parameters)
}
await t('50k bare parquet zstd', `COPY (${selectColumns(store, 'TIMESTAMPTZ', 'VARCHAR')} WHERE seq <= 50000) TO '${out}' (FORMAT parquet, COMPRESSION zstd)`)
const s = copySql(files.rows, mid, { kind: 'parquet', compression: 'zstd' }, out)
await t('EXPLAIN', 'EXPLAIN ' + s.sql, s.parameters)
const p = copySql(pgs.rows, mid, { kind: 'copy-text' }, out)
await t('50k copy-text ours', p.sql, p.parameters)
await t('50k copy-text ours without ORDER BY', p.sql.replace(/\) ORDER BY position/, ')'), p.parameters)
await t('all: plain read of properties', `SELECT sum(strlen(properties)) FROM ev_${store.project_id}`)
await t('all: check of cut texts', pgs.checks[0]!.sql, pgs.checks[0]!.parameters)
await t('all: bare parquet zstd', `COPY (${selectColumns(store, 'TIMESTAMPTZ', 'VARCHAR')}) TO '${out}' (FORMAT parquet, COMPRESSION zstd)`)
await t('all: bare parquet zstd rgs 50k', `COPY (${selectColumns(store, 'TIMESTAMPTZ', 'VARCHAR')}) TO '${out}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 50000)`)
{ const b = readFileSync(out); const cpu = process.cpuUsage(); createHash('sha256').update(b).digest(); const u = process.cpuUsage(cpu); console.log('sha256 MB/s', b.length / 1e6 / ((u.user + u.system) / 1e6), 'bytes', b.length) }
instance.closeSync()
