// What a sweep tells the owner of an export.
import type { Removed } from '../destinations/destination.ts'

const MAX_NAMED = 10

/** A line for each kind: “Removed 2 unfinished uploads that earlier runs left: a, b.” */
export function accountOf(removed: readonly Removed[]): string[] {
  const kinds = [...new Set(removed.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const names = removed.filter((each) => each.kind === kind).map(({ name }) => name)
    const count = `${names.length} ${kind}${names.length === 1 ? '' : 's'}`
    return `Removed ${count} that earlier runs left: ${shortened(names)}.`
  })
}

function shortened(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  return names.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
