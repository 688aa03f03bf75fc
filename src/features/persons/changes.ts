// What changed about persons and groups, collected per project for the copies in the event store; the last state counts.
import type {
  ChangeRange,
  Copies,
  DistinctIdCopy,
  GroupCopy,
  PersonCopy,
} from '../../platform/event-store/event-store.ts'

/** With the head of the project in that state. */
export type CopiesOfState = Copies & { head: bigint }

type Collected = {
  persons: Map<string, PersonCopy>
  deleted_persons: Set<string>
  distinct_ids: Map<string, DistinctIdCopy>
  groups: Map<string, GroupCopy>
}

export class Changes {
  readonly #projects = new Map<number, Collected>()
  #position: bigint | null = null

  /** Position of the last change; null when there was none. */
  get position(): bigint | null {
    return this.#position
  }

  reach(position: bigint): void {
    if (this.#position === null || position > this.#position) this.#position = position
  }

  addPerson(project_id: number, person: PersonCopy): void {
    this.#of(project_id).persons.set(person.id, person)
  }

  deletePerson(project_id: number, uuid: string): void {
    const { persons, deleted_persons } = this.#of(project_id)
    persons.delete(uuid)
    deleted_persons.add(uuid)
  }

  addDistinctId(project_id: number, { distinct_id, person_id, version }: DistinctIdCopy): void {
    this.#of(project_id).distinct_ids.set(distinct_id, { distinct_id, person_id, version })
  }

  addGroup(project_id: number, group: GroupCopy): void {
    this.#of(project_id).groups.set(`${group.index} ${group.key}`, group)
  }

  projects(): number[] {
    return [...this.#projects.keys()]
  }

  /** `heads` are the states that the changes have brought their projects to. */
  summary(heads: ReadonlyMap<number, bigint>): {
    copies: ReadonlyMap<number, CopiesOfState>
    range: ChangeRange | null
  } {
    const copies = new Map(
      [...this.#projects].map(([project_id, collected]) => [
        project_id,
        { ...toCopies(collected), head: heads.get(project_id)! },
      ]),
    )
    const after = [...heads.values()].reduce(
      (least, head) => (head < least ? head : least),
      this.#position ?? 0n,
    )
    return { copies, range: this.#position === null ? null : { after, last: this.#position } }
  }

  #of(project_id: number): Collected {
    let collected = this.#projects.get(project_id)
    if (!collected) {
      collected = {
        persons: new Map(),
        deleted_persons: new Set(),
        distinct_ids: new Map(),
        groups: new Map(),
      }
      this.#projects.set(project_id, collected)
    }
    return collected
  }
}

function toCopies({ persons, deleted_persons, distinct_ids, groups }: Collected): Copies {
  return {
    persons: [...persons.values()],
    deleted_persons: [...deleted_persons],
    distinct_ids: [...distinct_ids.values()],
    groups: [...groups.values()],
  }
}
