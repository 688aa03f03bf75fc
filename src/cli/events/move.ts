// `longshore events move`: carries all events from the store we bring along to the user's ClickHouse, or back.
import { eventFolder, openMetadata } from '../../app/services.ts'
import type { Config } from '../../app/config.ts'
import { explainClickHouseFault } from '../../app/start-faults.ts'
import type { Database } from '../../platform/db/database.ts'
import { openClickHouseSide } from '../../platform/event-store/clickhouse/moving/side.ts'
import { openDuckDbSide } from '../../platform/event-store/duckdb/moving/side.ts'
import { StoreTaken } from '../../platform/event-store/event-store.ts'
import { MoveDifference, moveEvents, type MovedProject } from '../../platform/event-store/moving/move.ts'
import type { MoveSide } from '../../platform/event-store/moving/side.ts'
import {
  beginMove,
  findMove,
  finishMove,
  forgetMove,
  isEngine,
} from '../../platform/event-store/moving/state.ts'
import { openLog } from '../../platform/log/log.ts'
import { UserError, type Command, type CommandOptions } from '../command.ts'
import { takeInstalledConfig } from '../environment.ts'
import { inDigits, perSecond } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { showEventProgress } from './progress.ts'

type Engine = MoveSide['engine']

export const moveEventsCommand: Command = {
  name: 'events move',
  description: 'carry all events over to ClickHouse, or back, while the server is stopped',
  options(command) {
    command
      .option('--to <store>', 'clickhouse, or duckdb for the one in DATA_DIR')
      .option('--forget', 'forget the last move: the server may start with the store from before it')
  },
  async run(options) {
    const to = targetOf(options)
    const config = await takeInstalledConfig()
    if (config.CLICKHOUSE_URL === null && to !== null)
      throw new UserError('CLICKHOUSE_URL is not set: a move needs it in either direction')
    const log = openLog({ level: 'warn', format: 'json', to: process.stderr })
    const metadata = await openMetadata(config, log, 'command')
    try {
      await metadata.migrate()
      if (to === null) await forgetMove(metadata.db)
      else await move(config, metadata.db, to)
    } finally {
      await metadata.close()
    }
  },
}

function targetOf({ to, forget }: CommandOptions): Engine | null {
  if (forget) {
    if (to === undefined) return null
    throw new UserError('--forget moves nothing: give it without --to')
  }
  if (isEngine(to)) return to
  throw new UserError('--to takes clickhouse or duckdb')
}

async function move(config: Config, db: Database, to: Engine): Promise<void> {
  const duckdb = await openDuckDbSide(eventFolder(config)).catch(explainTaken)
  try {
    const url = config.CLICKHOUSE_URL!
    const clickhouse = await openClickHouseSide({ url, cluster: config.CLICKHOUSE_CLUSTER, db }).catch(
      (error: unknown) =>
        explainTaken(error instanceof StoreTaken ? error : explainClickHouseFault(url, error)),
    )
    try {
      const [source, target] = to === 'clickhouse' ? [duckdb, clickhouse] : [clickhouse, duckdb]
      await begin(db, target, config)
      const moved = await carryOver(source, target)
      await finishMove(db, new Date())
      process.stdout.write(`${tableOf(moved)}\n${nextSteps(to, config)}\n`)
    } finally {
      await clickhouse.close()
    }
  } finally {
    await duckdb.close()
  }
}

/** A move that was cut short goes on; another begins with an empty target. */
async function begin(db: Database, target: MoveSide, config: Config): Promise<void> {
  const last = await findMove(db)
  if (last?.target === target.engine && last.finished_at === null) {
    process.stderr.write(`continuing the move that began at ${last.started_at.toISOString()}\n`)
    return
  }
  if (!(await target.isEmpty())) {
    throw new UserError(
      target.engine === 'clickhouse'
        ? 'ClickHouse holds events already: let CLICKHOUSE_URL name an empty database, or empty the tables of this one'
        : `${eventFolder(config)} holds events already: rename the folder, or remove it if nobody needs it`,
    )
  }
  await target.begin()
  await beginMove(db, target.engine, new Date())
}

async function carryOver(source: MoveSide, target: MoveSide): Promise<MovedProject[]> {
  const signal = stopSignal()
  const display = showEventProgress('events')
  const started = Date.now()
  let events = 0
  try {
    return await moveEvents({
      source,
      target,
      signal,
      onProgress(so_far) {
        events = so_far.events
        display.update({ ...so_far, kept_aside: 0 })
      },
    })
  } catch (error) {
    if (signal.aborted)
      throw new UserError('stopped before the end: run the same command to continue from here')
    if (error instanceof MoveDifference)
      throw new UserError(
        `the move is not finished, because the stores do not hold the same:\n${error.message}\n` +
          'Forget it with --forget, empty the target and begin again.',
      )
    throw error
  } finally {
    display.stop()
    process.stderr.write(`${inDigits(events)} events moved, ${inDigits(perSecond(events, started))}/s\n`)
  }
}

function tableOf(moved: readonly MovedProject[]): string {
  const head = ['project', 'events', 'first position', 'last position', 'persons']
  const rows = moved.map(({ project_id, events, first, last, persons }) => [
    String(project_id),
    ...[events, first, last, persons].map(inDigits),
  ])
  const widths = head.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index]!.length)))
  return [head, ...rows]
    .map((row) => row.map((cell, index) => cell.padStart(widths[index]!)).join('  '))
    .map((line) => `${line}\n`)
    .join('')
}

function nextSteps(to: Engine, config: Config): string {
  const [setting, place, left] =
    to === 'clickhouse'
      ? ['Keep CLICKHOUSE_URL and DATABASE_URL set', 'ClickHouse', eventFolder(config)]
      : ['Unset CLICKHOUSE_URL', eventFolder(config), 'ClickHouse']
  return (
    `All events are in ${place}, and are the same as before. ` +
    `${setting}, then start the server. Those in ${left} were not changed: remove them when you no longer need them.`
  )
}

function explainTaken(error: unknown): never {
  if (error instanceof StoreTaken) throw new UserError(`stop the server first: ${error.message}`)
  throw error
}
