// Tells how far a long command has got: a bar on a terminal, a line every few seconds elsewhere. Both go to standard error;
// standard output has the result alone.
import { SingleBar } from 'cli-progress'

export type Shown = {
  /** Between 0 and 1. */
  share: number
  events: number
  kept_aside: number
}

export type ProgressDisplay = { update(shown: Shown): void; stop(): void }

const LINE_EVERY_MS = 5_000
const STEPS = 1000

export function showProgress(label: string): ProgressDisplay {
  const started = Date.now()
  return process.stderr.isTTY ? showBar(label, started) : showLines(label, started)
}

function showBar(label: string, started: number): ProgressDisplay {
  const bar = new SingleBar({
    format: `${label} [{bar}] {percentage}% | {what} | {eta_formatted} left`,
    stream: process.stderr,
    hideCursor: true,
  })
  bar.start(STEPS, 0, { what: '' })
  return {
    update: (shown) => bar.update(Math.round(shown.share * STEPS), { what: inWords(shown, started) }),
    stop: () => bar.stop(),
  }
}

function showLines(label: string, started: number): ProgressDisplay {
  let next = started + LINE_EVERY_MS
  return {
    update(shown) {
      if (Date.now() < next) return
      next = Date.now() + LINE_EVERY_MS
      process.stderr.write(`${label}: ${Math.floor(shown.share * 100)} %, ${inWords(shown, started)}\n`)
    },
    stop: () => undefined,
  }
}

function inWords({ events, kept_aside }: Shown, started: number): string {
  const aside = kept_aside === 0 ? '' : `, ${inDigits(kept_aside)} kept aside`
  return `${inDigits(events)} events, ${inDigits(perSecond(events, started))}/s${aside}`
}

export function perSecond(count: number, started: number): number {
  return Math.round((count * 1000) / Math.max(1, Date.now() - started))
}

export function inDigits(count: number): string {
  return count.toLocaleString('en')
}

/** Two columns, numbers to the right. */
export function tableOf(rows: readonly (readonly [string, number])[]): string {
  const numbers = rows.map(([, count]) => inDigits(count))
  const width = Math.max(...numbers.map((number) => number.length))
  return rows.map(([name], index) => `${name.padEnd(15)}${numbers[index]!.padStart(width)}\n`).join('')
}
