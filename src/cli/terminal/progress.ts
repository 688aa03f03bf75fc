// Tells how far a long command has got: a bar on a terminal, a line every few seconds elsewhere. Both go to standard error;
// standard output has the result alone.
import { SingleBar } from 'cli-progress'

export type ProgressDisplay = {
  /** @param share between 0 and 1 @param what the rest of the line, in words */
  update(share: number, what: string): void
  stop(): void
}

const LINE_EVERY_MS = 5_000
const STEPS = 1000

export function showProgress(label: string): ProgressDisplay {
  return process.stderr.isTTY ? showBar(label) : showLines(label)
}

function showBar(label: string): ProgressDisplay {
  const bar = new SingleBar({
    format: `${label} [{bar}] {percentage}% | {what}{left}`,
    stream: process.stderr,
    hideCursor: true,
  })
  bar.start(STEPS, 0, { what: '', left: '' })
  const started = Date.now()
  return {
    update(share, what) {
      const left = timeLeft(share, Date.now() - started)
      bar.update(Math.round(share * STEPS), { what, left: left === '' ? '' : ` | ${left}` })
    },
    stop: () => bar.stop(),
  }
}

/** Nothing as long as nobody can tell, and at the end. */
export function timeLeft(share: number, elapsed_ms: number): string {
  if (!(share > 0 && share < 1)) return ''
  const seconds = Math.ceil((elapsed_ms * (1 - share)) / share / 1000)
  if (seconds < 100) return `${seconds} s left`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 100 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`
}

function showLines(label: string): ProgressDisplay {
  let next = Date.now() + LINE_EVERY_MS
  return {
    update(share, what) {
      if (Date.now() < next) return
      next = Date.now() + LINE_EVERY_MS
      process.stderr.write(`${label.trimEnd()}: ${Math.floor(share * 100)} %, ${what}\n`)
    },
    stop: () => undefined,
  }
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
