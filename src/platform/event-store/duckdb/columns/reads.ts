// How often questions read each property of a project of late: every day halves what was counted before it. In memory: what
// is lost with the process is soon counted anew, and which columns there are stands in the manifest.
import type { Read } from './choice.ts'

const MAX_PROJECTS = 1_000
const MAX_PROPERTIES = 200

export class PropertyReads {
  /** Those asked last are at the end. */
  readonly #projects = new Map<number, Map<string, Read>>()

  count(project_id: number, properties: Iterable<string>, today: number): void {
    const reads = this.#projects.get(project_id) ?? new Map<string, Read>()
    for (const property of properties) {
      reads.set(property, { count: ofLate(reads.get(property), today) + 1, day: today })
      if (reads.size > MAX_PROPERTIES) reads.delete(leastRead(reads, today))
    }
    this.#projects.delete(project_id)
    this.#projects.set(project_id, reads)
    const [oldest] = this.#projects.keys()
    if (this.#projects.size > MAX_PROJECTS) this.#projects.delete(oldest!)
  }

  of(project_id: number, today: number): ReadonlyMap<string, Read> {
    const reads = [...(this.#projects.get(project_id) ?? [])]
    return new Map(reads.map(([property, read]) => [property, { ...read, count: ofLate(read, today) }]))
  }

  forget(project_id: number): void {
    this.#projects.delete(project_id)
  }
}

/** What was read on its last day counts whole on that day. */
function ofLate(read: Read | undefined, today: number): number {
  return read ? read.count / 2 ** Math.max(0, today - read.day) : 0
}

/** The property that was read least; the first of several. */
function leastRead(reads: ReadonlyMap<string, Read>, today: number): string {
  const counted = [...reads].map(([property, read]) => ({ property, count: ofLate(read, today) }))
  return counted.reduce((least, each) => (each.count < least.count ? each : least)).property
}
