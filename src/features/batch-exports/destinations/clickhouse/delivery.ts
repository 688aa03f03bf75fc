// One attempt at bringing a run to ClickHouse: its files go into a stage of its own, which is then attached to the user's
// table; the ledger is written after it. Called by clickhouse.ts.
import { readFile } from 'node:fs/promises'
import type { Delivery, DeliveryContext } from '../destination.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { publish, type Attempt } from './publish.ts'
import { openSession, type Session } from './session.ts'
import { dropStages, makeStage, stageName } from './stages.ts'
import * as statements from './statements.ts'
import { prepareTarget } from './target.ts'

type Context = DeliveryContext<ClickHouseConfig>

const ABORT_LIMIT_MS = 30_000

export async function openDelivery(context: Context): Promise<Delivery> {
  const { config, run } = context
  const session = openSession(context)
  await session.run(statements.createLedger(config))
  const delivered = run.is_repair ? null : await deliveredRows(session, context)
  if (delivered !== null) {
    await dropStages(session, config, run, null).catch(() => warn(context))
    return nothingToDo(delivered)
  }
  const target = await prepareTarget(session, context)
  await makeStage(session, config, run, target)
  return load({ session, context, target })
}

function load(attempt: Attempt): Delivery {
  const { session, context } = attempt
  const { config, run } = context
  const insert = statements.insertFile(nameOf(config, stageName(run)))
  let sent = 0
  return {
    async write(file) {
      await session.insert(insert, await readFile(file.path))
      sent += file.rows
    },
    async finish() {
      await publish(attempt, sent)
      await enterInLedger(session, context, sent)
      await dropOwn(session, context)
      return { rows: sent, files: [] }
    },
    async abort() {
      // The run's own signal may be what made it stop.
      const last = openSession({ ...context, signal: AbortSignal.timeout(ABORT_LIMIT_MS) })
      await dropOwn(last, context)
    },
  }
}

/** For an attempt after the one that got through without hearing of it. */
function nothingToDo(rows: number): Delivery {
  return { write: async () => {}, finish: async () => ({ rows, files: [] }), abort: async () => {} }
}

async function dropOwn(session: Session, context: Context): Promise<void> {
  const drop = statements.dropTable(context.config, stageName(context.run))
  await session.run(drop).catch(() => warn(context))
}

function warn({ run, log }: Context): void {
  log('WARNING', `The table ${stageName(run)} could not be dropped: it is of no further use.`)
}

async function deliveredRows(session: Session, { config, run }: Context): Promise<number | null> {
  const [row] = await session.run(statements.findInLedger(config), { run_id: run.id })
  return row === undefined ? null : Number(row[0])
}

async function enterInLedger(session: Session, { config, run }: Context, rows: number): Promise<void> {
  const { id: run_id, batch_export_id } = run
  const entry = { run_id, batch_export_id, table_name: config.table_name, rows }
  await session.run(statements.enterInLedger(config), entry)
}
