// Logs: one JSON line per fact, or readable lines on a terminal. Secrets have no place in them: requests are logged by
// route, never by URL, header or body.
import { pino, type DestinationStream, type Logger } from 'pino'
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
  if (options.format === 'json') return options.to ? pino(settings, options.to) : pino(settings)
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

/** Message, code and stack only: drivers hang parameters and connection data on their errors. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error).slice(0, MAX_TEXT) }
  const code = 'code' in error ? { code: error.code } : {}
  return { message: error.message.slice(0, MAX_TEXT), ...code, stack: error.stack?.slice(0, MAX_TEXT) }
}
