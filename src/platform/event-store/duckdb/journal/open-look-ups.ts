// Looks into the files of projects, which take long and hold up no write: they begin before it and are over after it. What
// came from the journal into files since one began may have been missed by it, so it is remembered until then.
import { isKnown, type KnownIds } from '../../known-ids.ts'
import { candidatesIn } from './repeats.ts'
import type { EncodedIds } from './section.ts'

type LookUp = {
  absent: ReadonlySet<string>
  /** What was folded since it began. */
  folded: KnownIds[]
}

const keyOf = (id: string, time: bigint) => `${id}${time}`

export class OpenLookUps {
  readonly #open = new Map<number, Map<number, LookUp>>()
  #last = 0

  /** Gives its number. */
  begin(project_id: number): number {
    const others = this.#open.get(project_id) ?? new Map<number, LookUp>()
    this.#open.set(project_id, others.set(++this.#last, { absent: new Set(), folded: [] }))
    return this.#last
  }

  /** The files have none of these. */
  foundAbsent(project_id: number, number: number, ids: EncodedIds): void {
    const absent = new Set(candidatesIn(ids).map(({ id, time }) => keyOf(id, time)))
    this.#open.get(project_id)!.get(number)!.absent = absent
  }

  end(project_id: number, number: number): void {
    const others = this.#open.get(project_id)!
    others.delete(number)
    if (others.size === 0) this.#open.delete(project_id)
  }

  wasFolded(project_id: number, ids: KnownIds): void {
    for (const { folded } of this.#of(project_id)) folded.push(ids)
  }

  /** What those of the project tell that are not over. */
  known(project_id: number) {
    const open = this.#of(project_id)
    const folded = [...new Set(open.flatMap((look_up) => look_up.folded))]
    return {
      wasFolded: (id: string, time: bigint) => folded.some((ids) => isKnown(ids, id, time)),
      isAbsent: (id: string, time: bigint) => open.some(({ absent }) => absent.has(keyOf(id, time))),
    }
  }

  #of(project_id: number): LookUp[] {
    return [...(this.#open.get(project_id)?.values() ?? [])]
  }
}
