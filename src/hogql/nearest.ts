// The known name that somebody who mistyped one may have meant.

/** Steps from one word to the other: letters put in, taken out or changed, and neighbours that changed places. */
function distance(left: string, right: string): number {
  let before: number[] = []
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const change = row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1)
      const areSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      const swap = areSwapped ? before[j - 2]! + 1 : Infinity
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, change, swap))
    }
    before = row
    row = next
  }
  return row[right.length]!
}

/** Null when none is near. Long names are not looked at: they were no slip. */
export function nearestTo(name: string, known: Iterable<string>, most_steps: number): string | null {
  if (name.length > 40) return null
  const nearest = [...known]
    .map((candidate) => ({ candidate, steps: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.steps - b.steps)[0]
  return nearest && nearest.steps <= most_steps ? nearest.candidate : null
}
