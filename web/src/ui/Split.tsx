// Two panes with a divider between them that drags, moves by arrow keys, and stays where it was put.
import { useLocalStorage } from '@mantine/hooks'
import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import classes from './Split.module.css'

type Props = {
  /** `rows`: one above the other; `columns`: side by side. */
  direction: 'rows' | 'columns'
  /** What the divider moves, for those who listen. */
  label: string
  /** Under this name its place is kept in the browser. */
  name: string
  /** Share of the first pane in hundredths. */
  initial?: number
  first: ReactNode
  second: ReactNode
}

const LEAST = 12
const MOST = 88
const STEP = 4

export function Split({ direction, label, name, initial = 40, first, second }: Props) {
  const whole = useRef<HTMLDivElement>(null)
  const [stored, setShare] = useLocalStorage({
    key: `split:${name}`,
    defaultValue: initial,
    getInitialValueInEffect: false,
  })
  const share = within(typeof stored === 'number' ? stored : initial)
  const isRows = direction === 'rows'

  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const box = whole.current!.getBoundingClientRect()
    const place = isRows ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width
    setShare(within(Math.round(place * 1000) / 10))
  }
  const keys = (event: KeyboardEvent) => {
    const [less, more] = isRows ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight']
    const next = { [less!]: share - STEP, [more!]: share + STEP, Home: LEAST, End: MOST }[event.key]
    if (next === undefined) return
    event.preventDefault()
    setShare(within(next))
  }

  return (
    <div ref={whole} className={classes.split} data-direction={direction}>
      <div className={classes.first} style={{ flexBasis: `${share}%` }}>
        {first}
      </div>
      {/* A separator that can be moved is a control: it has the focus and a value. */}
      <div
        role="separator"
        tabIndex={0}
        className={classes.divider}
        aria-label={label}
        aria-orientation={isRows ? 'horizontal' : 'vertical'}
        aria-valuenow={Math.round(share)}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => setShare(initial)}
        onKeyDown={keys}
      />
      <div className={classes.second}>{second}</div>
    </div>
  )
}

const within = (share: number) => Math.min(MOST, Math.max(LEAST, share))
