// Ours and the yardstick in turn, the medians of both, and their ratio beside the goal.
import type { Exported, Measured } from './measured-process.ts'

/** The machine may be slower in one minute than in the next. */
export const ROUNDS = Number(process.env.EXPORT_BENCH_ROUNDS ?? 3)

export type Comparison = {
  name: string
  events: number
  rounds: number
  /** How many times as fast as bare. */
  goal: number
  /** How many times the CPU of bare it may take. */
  cpu_goal?: number | undefined
  /** Each checks what it wrote, and throws when that is wrong. */
  ours(round: number): Promise<Exported>
  bare(round: number): Promise<Measured>
}

/** Whether the goal was met. */
export async function compare({
  name,
  events,
  rounds,
  goal,
  cpu_goal,
  ours,
  bare,
}: Comparison): Promise<boolean> {
  const [ourRounds, bareRounds]: [Exported[], Measured[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ourRounds.push(await ours(round))
    bareRounds.push(await bare(round))
  }
  const [our, yardstick] = [middle(ourRounds), middle(bareRounds)]
  const speed = yardstick.seconds / our.seconds
  const { counting, asking, writing } = our.store_s
  console.log(
    [
      `${name.padEnd(18)} ours ${shown(our, events)}`,
      `${' '.repeat(18)} bare ${shown(yardstick, events)}`,
      `${' '.repeat(18)} calls of ours to the store, some at the same time: counting ${counting.toFixed(1)} s, other questions ${asking.toFixed(1)} s, rows ${writing.toFixed(1)} s`,
      `${' '.repeat(18)} speed ${speed.toFixed(2)} of bare${spread(ourRounds, bareRounds)}; goal: at least ${goal}: ${met(speed >= goal)}`,
      ...(cpu_goal === undefined ? [] : [`${' '.repeat(18)} ${cpuLine(ourRounds, bareRounds, cpu_goal)}`]),
    ].join('\n'),
  )
  return speed >= goal && (cpu_goal === undefined || cpuRatio(ourRounds, bareRounds) <= cpu_goal)
}

export type CpuComparison = {
  name: string
  rounds: number
  /** At most so many times the CPU of the yardstick. */
  goal: number
  /** What is measured, and what it is held against. */
  labels: readonly [string, string]
  /** Comes first in each round. */
  yardstick(): Promise<Measured>
  ours(): Promise<Measured>
}

/** Whether the goal was met. */
export async function compareCpu({
  name,
  rounds,
  goal,
  labels,
  yardstick,
  ours,
}: CpuComparison): Promise<boolean> {
  const [ourRounds, yardsticks]: [Measured[], Measured[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    yardsticks.push(await yardstick())
    ourRounds.push(await ours())
  }
  const line = (label: string, { seconds, cpu_s }: Measured) =>
    `${seconds.toFixed(1).padStart(7)} s ${cpu_s.toFixed(1).padStart(7)} s CPU  ${label}`
  console.log(
    [
      `${name.padEnd(23)} ${line(labels[0], middle(ourRounds))}`,
      `${' '.repeat(23)} ${line(labels[1], middle(yardsticks))}`,
      `${' '.repeat(23)} ${cpuLine(ourRounds, yardsticks, goal)}`,
    ].join('\n'),
  )
  return cpuRatio(ourRounds, yardsticks) <= goal
}

function cpuLine(ours: readonly Measured[], others: readonly Measured[], goal: number): string {
  const ratio = cpuRatio(ours, others)
  const rounds = ours.map(({ cpu_s }, round) => (cpu_s / others[round]!.cpu_s).toFixed(2)).join(', ')
  return `CPU ${ratio.toFixed(2)} times (rounds ${rounds}); goal: at most ${goal}: ${met(ratio <= goal)}`
}

/** The least of each counts: whatever disturbs a round only adds to it. */
function cpuRatio(ours: readonly Measured[], others: readonly Measured[]): number {
  const least = (rounds: readonly Measured[]) => Math.min(...rounds.map(({ cpu_s }) => cpu_s))
  return least(ours) / least(others)
}

export const met = (isMet: boolean) => (isMet ? 'met' : 'NOT met')

function shown({ seconds, cpu_s, peak_mb }: Measured, events: number): string {
  const times = `${seconds.toFixed(1).padStart(7)} s ${cpu_s.toFixed(1).padStart(7)} s CPU`
  const memory = peak_mb === null ? '' : `, peak ${peak_mb.toFixed(0)} MB`
  return `${times}, ${Math.round(events / seconds)} events/s${memory}`
}

/** The round whose time is the median. */
function middle<M extends Measured>(rounds: readonly M[]): M {
  return rounds.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(rounds.length / 2)]!
}

function spread(ours: readonly Measured[], bare: readonly Measured[]): string {
  if (ours.length === 1) return ' (one round)'
  const ratios = ours.map(({ seconds }, round) => bare[round]!.seconds / seconds)
  return ` (rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`
}
