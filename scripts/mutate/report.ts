// What a run of mutants has shown, for people.
import type { Mutant } from './mutants.ts'

/** Share of mutants that tests must kill where rights, money or delivery are decided. */
export const GOAL = 0.85

export type Score = {
  name: string
  has_goal: boolean
  /** Mutants there are; fewer are tried. */
  found: number
  killed: number
  invalid: number
  survivors: readonly Mutant[]
  /** Null where none was tried. */
  share: number | null
}

export function printScores(scores: readonly Score[]): void {
  const survivors = scores.flatMap((score) => score.survivors)
  if (survivors.length > 0) console.log(`\n== survivors\n\n${survivors.map(describeMutant).join('\n')}`)
  console.log('\n== scores\n')
  for (const { name, has_goal, found, killed, invalid, survivors, share } of scores) {
    const percent = share === null ? '-' : `${Math.floor(share * 100)} %`
    const isBelow = has_goal && share !== null && share < GOAL
    const verdict = isBelow ? `  below the goal of ${GOAL * 100} %` : ''
    const counts = `${killed} killed, ${survivors.length} survived, ${invalid} invalid, of ${found}`
    console.log(`${percent.padStart(6)}  ${name}: ${counts}${verdict}`)
  }
}

export function describeMutant({ file, line, before, after }: Mutant): string {
  return `${file}:${line}  ${short(before)}  →  ${short(after) || 'nothing'}`
}

/** On one line. */
export function short(code: string): string {
  const flat = code.replaceAll(/\s+/g, ' ').trim()
  return flat.length > 90 ? `${flat.slice(0, 89)}…` : flat
}
