// What happened in simulations, counted.

export class Tally {
  readonly counts = new Map<string, number>()

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count)
  }

  toString(): string {
    const lines = [...this.counts].toSorted(([a], [b]) => a.localeCompare(b))
    return lines.map(([what, count]) => `${String(count).padStart(10)}  ${what}`).join('\n')
  }
}
