// What a verification has read and found so far: the first problems in full, all of them counted.
import { storableText } from '../../../lib/storable-text.ts'
import type { Result } from './queries.ts'
import type { Figures, Problem, ProblemKind, Verdict } from './rows.ts'

export const MAX_KEPT = 100
/** Object stores have no longer names. */
const MAX_TEXT_BYTES = 2_048

export class Findings {
  readonly read: Figures = { runs: 0, files: 0, rows: 0, bytes: 0 }
  readonly #problems: Problem[] = []
  readonly #kinds = new Map<ProblemKind, number>()
  readonly #notes = new Set<string>()
  #is_unclear = false

  add(problem: Problem): void {
    const { file, uuid } = problem
    if (this.room > 0) this.#problems.push({ ...problem, file: storable(file), uuid: storable(uuid) })
    this.count(problem.kind, 1)
  }

  /** Problems beyond those that are shown. */
  count(kind: ProblemKind, count: number): void {
    if (count > 0) this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + count)
  }

  note(text: string): void {
    this.#notes.add(text)
  }

  /** What differs, and whether that is a problem cannot be told. */
  leaveUnclear(note: string): void {
    this.#is_unclear = true
    this.note(note)
  }

  /** How many more problems are shown. */
  get room(): number {
    return MAX_KEPT - this.#problems.length
  }

  get result(): Result {
    return {
      ...this.read,
      status: 'Completed',
      verdict: this.#verdict(),
      problems: this.#problems,
      problems_count: [...this.#kinds.values()].reduce((sum, count) => sum + count, 0),
      problem_kinds: Object.fromEntries(this.#kinds),
      notes: [...this.#notes],
    }
  }

  #verdict(): Verdict {
    const kinds = [...this.#kinds.keys()]
    if (kinds.some((kind) => kind !== 'unreachable')) return 'problems'
    if (kinds.length > 0) return 'unreachable'
    if (this.#is_unclear) return 'unclear'
    return this.read.runs > 0 ? 'intact' : 'nothing_to_verify'
  }
}

/** What others have named may hold anything. */
function storable(text: string | null): string | null {
  return text === null ? null : storableText(text, MAX_TEXT_BYTES)
}
