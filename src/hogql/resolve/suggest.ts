// "Did you mean …?" for names that do not exist.

/** Steps from one word to the other: letters put in, taken out or changed. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...left].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (right[j - 1] === letter ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change))
    }
    row = next
  }
  return row[right.length] ?? 0
}

/** ` Did you mean 'x'?`, or nothing when no name is near. Long names are not looked at: they were no slip. */
export function suggestion(name: string, known: Iterable<string>): string {
  if (name.length > 40) return ''
  const nearest = [...known]
    .map((candidate) => ({ candidate, steps: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.steps - b.steps)[0]
  return nearest && nearest.steps <= Math.ceil(name.length / 3) ? ` Did you mean '${nearest.candidate}'?` : ''
}
