// What the clients know: the changes they asked for, and the state of things that the answers to them add up to.

/** An entry of the activity log, as stored. */
export type Entry = {
  position: string
  scope: string
  activity: string
  item_id: string | null
  detail: { name: string }
}

export type Answer = { status: number; body: Record<string, unknown> | null }

export type Change = {
  what: string
  organization: Organization | null
  /** Open: no answer came, so it may have happened or not. */
  state: 'answered' | 'open'
  /** Names the entry of the activity log that goes with it. */
  entry_key: string
  /** Enters it into the ledger: from the answer, or from the entry alone when no answer came. */
  apply(body: Record<string, unknown> | null, entry: Entry | null): void
  /** The same request again, under the same Idempotency-Key. */
  again: (() => Promise<Answer>) | null
}

/** What an entry may be known by: the name of its thing (of a key without the mask behind it), or its id. */
export function keysOf({ scope, activity, item_id, detail }: Entry): string[] {
  const name = detail.name.replace(/ \(.*\)$/, '')
  return [`${scope} ${activity} ${name}`, `${scope} ${activity} #${item_id}`]
}

/** How many changes of each key have happened: as many entries there must be. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(key: string): void {
    this.#counts.set(key, this.of(key) + 1)
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }
}

export type Member = { membership_id: string; level: number }
export type ServiceKey = { label: string; value: string | null; former_values: string[] }

export class Organization {
  is_deleted = false
  /** By id: name. The first project is not among them, because no client may delete it. */
  readonly projects = new Map<number, string>()
  /** By address: id, or null when no answer ever told it. */
  readonly invites = new Map<string, string | null>()
  readonly keys = new Map<string, ServiceKey>()
  /** By the user's uuid; whoever joined without an answer telling their uuid stands in `joined`. */
  readonly members = new Map<string, Member>()
  /** Addresses of those who accepted an invite. */
  readonly joined = new Set<string>()

  constructor(
    readonly id: string,
    public name: string,
  ) {}
}
