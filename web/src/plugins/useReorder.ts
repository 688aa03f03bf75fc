// Rows that change places: dragged by their grip, or moved by the arrow keys while it has the focus.
import { useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { moved } from './families'

type Options<Item> = {
  items: readonly Item[]
  /** Called with the new sequence, once a row was dropped or moved. */
  onOrder: (items: readonly Item[]) => void
}

export function useReorder<Item>({ items, onOrder }: Options<Item>) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const body = useRef<HTMLTableSectionElement>(null)

  /** The place in the list that this height of the window belongs to. */
  const placeAt = (y: number): number => {
    const rows = [...(body.current?.rows ?? [])]
    const below = rows.findIndex((row) => y < row.getBoundingClientRect().bottom)
    return below === -1 ? rows.length - 1 : below
  }
  const grip = (index: number) => ({
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: index, to: index })
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      if (drag !== null) setDrag({ from: drag.from, to: placeAt(event.clientY) })
    },
    onPointerUp() {
      if (drag !== null && drag.from !== drag.to) onOrder(moved(items, drag.from, drag.to))
      setDrag(null)
    },
    onPointerCancel: () => setDrag(null),
    onKeyDown(event: KeyboardEvent<HTMLElement>) {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
      if (step === undefined) return
      event.preventDefault()
      const next = moved(items, index, index + step)
      if (next !== items) onOrder(next)
    },
  })
  /** Where the row that is dragged would come, for its mark. */
  const markOf = (index: number): 'dragged' | 'above' | 'below' | undefined => {
    if (drag === null) return undefined
    if (index === drag.from) return 'dragged'
    if (index !== drag.to) return undefined
    return drag.to < drag.from ? 'above' : 'below'
  }
  return { body, grip, markOf }
}
