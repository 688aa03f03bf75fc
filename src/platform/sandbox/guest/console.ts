// console, and meta.logger: everything becomes a line of the config's log.
import { ask } from './host.ts'

const MAX_LENGTH = 10_000

function write(type: string, values: unknown[]): void {
  let message = ''
  for (const value of values) {
    if (message.length > MAX_LENGTH) break
    message += (message === '' ? '' : ' ') + show(value)
  }
  ask('log', type, message.slice(0, MAX_LENGTH))
}

function show(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Error) return value.stack ? `${String(value)}\n${value.stack}` : String(value)
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return JSON.stringify(value) ?? Object.prototype.toString.call(value)
  } catch {
    // It contains itself, or a number JSON does not have.
    return Object.prototype.toString.call(value)
  }
}

export const guestConsole = {
  log: (...values: unknown[]) => write('LOG', values),
  info: (...values: unknown[]) => write('INFO', values),
  warn: (...values: unknown[]) => write('WARN', values),
  error: (...values: unknown[]) => write('ERROR', values),
  debug: (...values: unknown[]) => write('DEBUG', values),
}
