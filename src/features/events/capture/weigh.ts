// What it costs to hand a value to another thread, without making JSON of it.

export type Weight = {
  /** Lists and objects count as well as what they hold. */
  values: number
  /** Characters of texts and of property names. */
  characters: number
}

/** The value came from JSON of bounded depth, so calling itself does no harm. */
export function weigh(value: unknown): Weight {
  const weight = { values: 0, characters: 0 }
  add(value, weight)
  return weight
}

function add(value: unknown, weight: Weight): void {
  weight.values += 1
  if (typeof value === 'string') weight.characters += value.length
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const inner of value) add(inner, weight)
    return
  }
  const fields = value as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    weight.characters += name.length
    add(fields[name], weight)
  }
}
