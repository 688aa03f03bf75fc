// Who reads something of a project: what they read is removed when they have ended, and not before.
type Lease = { afterwards: (() => void)[] }

export class Leases {
  readonly #readers = new Map<number, Set<Lease>>()

  async read<Result>(project_id: number, work: () => Promise<Result>): Promise<Result> {
    const lease: Lease = { afterwards: [] }
    const readers = this.#readers.get(project_id) ?? new Set()
    this.#readers.set(project_id, readers.add(lease))
    try {
      return await work()
    } finally {
      const before = previous(readers, lease)
      readers.delete(lease)
      // Those who began before it are waited for as well: the last of them goes on.
      if (before) before.afterwards.push(...lease.afterwards)
      else for (const goOn of lease.afterwards) goOn()
      if (readers.size === 0) this.#readers.delete(project_id)
    }
  }

  /** Once everybody has ended who reads now; those who begin later are not waited for. */
  afterReaders(project_id: number, goOn: () => void): void {
    const last = [...(this.#readers.get(project_id) ?? [])].at(-1)
    if (last) last.afterwards.push(goOn)
    else goOn()
  }
}

function previous<Item>(items: ReadonlySet<Item>, item: Item): Item | undefined {
  let before: Item | undefined
  for (const each of items) {
    if (each === item) return before
    before = each
  }
  return undefined
}
