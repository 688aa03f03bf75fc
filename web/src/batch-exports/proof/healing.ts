// What heals a problem that reading back has found, as the console can do it. Pure.
import type { IntervalAccount, Verification } from '../queries'
import type { Range } from './lines'

type Problem = Verification['problems'][number]
export type Healing = { act: 'repair'; range: Range } | { act: 'retry'; run: string } | { act: 'test' }

/** The API says it as a request; null where it says something that is no button here. */
export function healingOf(
  { what_to_do, run }: Pick<Problem, 'what_to_do' | 'run'>,
  accounts: readonly IntervalAccount[],
): Healing | null {
  if (what_to_do.startsWith('Test the destination')) return { act: 'test' }
  if (what_to_do.startsWith('Retry the run') && run !== null) return { act: 'retry', run }
  if (!what_to_do.startsWith('Repair')) return null
  const account = accounts.find((each) => each.run === run || (run !== null && each.runs.includes(run)))
  if (account)
    return {
      act: 'repair',
      range: {
        from: account.data_interval_start ?? account.data_interval_end,
        to: account.data_interval_end,
      },
    }
  const [, from, to] = /"start_at":"([^"]+)","end_at":"([^"]+)"/.exec(what_to_do) ?? []
  return from === undefined || to === undefined ? null : { act: 'repair', range: { from, to } }
}
