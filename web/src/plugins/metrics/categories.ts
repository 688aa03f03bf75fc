// Which calls of an app are counted, by what its code offers; and where in the source an error happened.
import type { App } from '../queries'

export const CALLS = {
  processEvent: 'Events changed',
  onEvent: 'Events handed over',
  exportEvents: 'Batches exported',
  composeWebhook: 'Webhooks composed',
  webhook: 'Webhooks sent',
  scheduledTask: 'Scheduled runs',
} as const
export type Calls = keyof typeof CALLS

export function callsOf({ plugin_info: { capabilities } }: Pick<App, 'plugin_info'>): Calls[] {
  const { methods = [], scheduled_tasks = [] } = (capabilities ?? {}) as {
    methods?: string[]
    scheduled_tasks?: string[]
  }
  const has = (method: string) => methods.includes(method)
  const calls: Calls[] = []
  if (has('processEvent')) calls.push('processEvent')
  // An app with exportEvents has a made-up onEvent.
  if (has('exportEvents')) calls.push('exportEvents')
  else if (has('onEvent')) calls.push('onEvent')
  if (has('composeWebhook')) calls.push('composeWebhook', 'webhook')
  if (scheduled_tasks.length > 0) calls.push('scheduledTask')
  return calls
}

export type Position = { line: number; column: number }

/** The first position of a stack in the author's own file. */
export function positionIn(stack: string): Position | null {
  const [, line, column] = /\bindex\.ts:(\d+):(\d+)/.exec(stack) ?? []
  return line && column ? { line: Number(line), column: Number(column) } : null
}

/** Some lines around, with their numbers. */
export function linesAround(source: string, line: number, around = 2): { number: number; text: string }[] {
  const lines = source.split('\n')
  const from = Math.max(1, line - around)
  return lines.slice(from - 1, line + around).map((text, index) => ({ number: from + index, text }))
}

/** Dates of the API, in UTC, as milliseconds. */
export const momentOf = (date: string): number =>
  Date.parse(date.length === 10 ? `${date}T00:00:00Z` : `${date.replace(' ', 'T')}Z`)
