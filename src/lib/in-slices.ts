// Work on many items that lets others have their turn in between.
import { Breather } from './breather.ts'

export async function inSlices<Item>(items: readonly Item[], work: (item: Item) => void): Promise<void> {
  const breather = new Breather()
  for (const item of items) {
    if (breather.isDue) await breather.take()
    work(item)
  }
}
