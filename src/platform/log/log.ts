// Logs: one JSON line per fact, or readable lines on a terminal. Secrets have no place in them: requests are logged by
// route, never by URL, header or body.
import { destination, levels, pino, type DestinationStream, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

// One value longer than this is cut: a stack of a driver's error can repeat a whole statement.
const MAX_TEXT = 4_000

/** `to` is where lines go: standard output unless told. */
export function openLog(options: {
  level: LogLevel
  format: 'pretty' | 'json'
  to?: DestinationStream
}): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: describeError },
  }
  if (options.format === 'json') return pino(settings, options.to ?? standardOutput())
  return pino(
    settings,
    pretty({
      colorize: process.stdout.isTTY,
      translateTime: 'HH:MM:ss',
      ignore: 'pid,hostname',
      singleLine: true,
    }),
  )
}

const MAX_GATHERED = 100
const GATHER_MS = 50
/** Asks pino to say the level of a line before it writes it. */
const WITH_LEVEL = Symbol.for('pino.metadata')

/**
 * A write per line takes a tenth of the processor time of a small request, so lines of one moment are written together.
 * Warnings and errors are written at once, with all that came before.
 */
function standardOutput(): DestinationStream {
  const output = destination({ fd: 1, sync: true })
  let lines: string[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const text = lines.join('')
    lines = []
    if (text !== '') output.write(text)
  }
  process.on('exit', flush)
  const gathering = {
    lastLevel: 0,
    write(line: string) {
      lines.push(line)
      if (this.lastLevel >= levels.values['warn']! || lines.length >= MAX_GATHERED) flush()
      else timer ??= setTimeout(flush, GATHER_MS).unref()
    },
  }
  return Object.assign(gathering, { [WITH_LEVEL]: true })
}

/** Message, code and stack only: drivers hang parameters and connection data on their errors. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error).slice(0, MAX_TEXT) }
  const code = 'code' in error ? { code: error.code } : {}
  return { message: error.message.slice(0, MAX_TEXT), ...code, stack: error.stack?.slice(0, MAX_TEXT) }
}
