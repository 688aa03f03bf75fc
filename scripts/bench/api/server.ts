// One measured server in a process of its own: ours or the bare one. Says its port, and its CPU time when asked.
import type { FastifyInstance } from 'fastify'
import { mkdtemp } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildHttp, compose } from '../../../src/app/compose.ts'
import { readConfig } from '../../../src/app/config.ts'
import { openEventStore, openServices } from '../../../src/app/services.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { openLog } from '../../../src/platform/log/log.ts'
import { buildBareServer, type RecordedCase } from './bare.ts'
import { cases } from './cases.ts'
import { recordStatements } from './statements.ts'
import type { BenchWorkspace } from './workspace.ts'
import type pg from 'pg'

export type ServerOrder = { kind: 'ours' | 'bare'; connection: pg.PoolConfig; workspace: BenchWorkspace }

export async function runBenchServer(order: ServerOrder): Promise<void> {
  const config = readConfig({
    RATE_LIMITS: 'off',
    SECRET_KEY: 'bench'.repeat(8),
    LOG_LEVEL: 'info',
    DATA_DIR: await mkdtemp(join(tmpdir(), 'longshore-bench-')),
  })
  const db = openDatabase(order.connection)
  // The access log as in earnest, written to nowhere: what it costs to make counts, what a disk costs does not.
  const log = openLog({ level: config.LOG_LEVEL, format: 'json', to: { write() {} } })
  const services = await openServices(config, log, db, await openEventStore(config, db), 'http://127.0.0.1')
  const ours = buildHttp(config, services, compose(services, config), null)
  await ours.ready()
  const app =
    order.kind === 'ours'
      ? ours
      : buildBareServer(db.pool, order.workspace, await recordAll(ours, order.workspace))
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', () => process.send!({ cpu_us: totalCpu() }))
  process.send!({ port: (app.server.address() as AddressInfo).port })
}

async function recordAll(ours: FastifyInstance, workspace: BenchWorkspace): Promise<RecordedCase[]> {
  const recorded: RecordedCase[] = []
  for (const benchCase of cases)
    recorded.push({ benchCase, statements: await recordStatements(ours, workspace, benchCase) })
  return recorded
}

function totalCpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
