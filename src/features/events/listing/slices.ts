// Long lists in slices: between two of them other requests get their turn.
import { setImmediate } from 'node:timers/promises'

// About 3 ms of reading or writing JSON.
const SLICE_WEIGHT = 256 * 1024

/** `weightOf` tells roughly how many characters an item has. */
export async function* slicesOf<Item>(
  items: readonly Item[],
  weightOf: (item: Item) => number,
): AsyncGenerator<readonly Item[]> {
  let start = 0
  let weight = 0
  for (const [index, item] of items.entries()) {
    weight += weightOf(item)
    if (weight < SLICE_WEIGHT && index < items.length - 1) continue
    yield items.slice(start, index + 1)
    start = index + 1
    weight = 0
    await setImmediate()
  }
}
