// `longshore events generate`: sample data of a web shop into a project.
import { randomInt } from 'node:crypto'
import { sendEvents } from '../../features/events/importing/send-events.ts'
import { SAMPLE_EVENT_BYTES, sampleEvents } from '../../features/events/sample/sample-events.ts'
import { UserError, type Command, type CommandOptions } from '../command.ts'
import { openTarget, targetOptions } from './open-sink.ts'
import { perSecond, tableOf } from '../terminal/progress.ts'
import { showEventProgress } from './progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'

const MAX_COUNT = 100_000_000
const MAX_DAYS = 3650
const MAX_SEED = 2 ** 32 - 1

export const generateEvents: Command = {
  name: 'events generate',
  description: 'make sample data: visits to a web shop, with clicks, purchases and sign-ups',
  options(command) {
    command.requiredOption('--count <n>', 'number of events')
    targetOptions(command)
    command
      .option('--days <n>', 'number of days, up to now, that the events are spread over', '90')
      .option('--users <n>', 'number of people, roughly (default: one for every 45 events)')
      .option('--seed <n>', 'the same seed gives the same people and visits (default: random)')
  },
  async run(options) {
    const count = numberOf(options, 'count', { max: MAX_COUNT })!
    const days = numberOf(options, 'days', { max: MAX_DAYS })!
    const users = numberOf(options, 'users', { max: count })
    const seed = numberOf(options, 'seed', { min: 0, max: MAX_SEED }) ?? randomInt(MAX_SEED)
    const target = await openTarget(options)
    const started = Date.now()
    const signal = stopSignal()
    const display = showEventProgress('events')
    let sent = 0
    try {
      const events = sampleEvents({
        count,
        seed,
        days,
        end: new Date(),
        ...(users === undefined ? {} : { users }),
      })
      await sendEvents(target.sink, events, SAMPLE_EVENT_BYTES, signal, (so_far) => {
        sent = so_far
        display.update({ share: sent / count, events: sent, kept_aside: 0 })
      })
    } finally {
      display.stop()
      await target.close()
    }
    const table = tableOf([
      ['generated', sent],
      ['stored', target.sink.stored() ?? sent],
      ['seed', seed],
      ['events/s', perSecond(sent, started)],
    ])
    process.stdout.write(table)
    if (signal.aborted) throw new UserError('stopped before the end')
  },
}

function numberOf(
  options: CommandOptions,
  name: string,
  { min = 1, max }: { min?: number; max: number },
): number | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const number = /^\d{1,15}$/.test(String(text)) ? Number(text) : NaN
  if (number >= min && number <= max) return number
  throw new UserError(`--${name} takes a number from ${min} to ${max}`)
}
