// A few words beside what one points at, or has reached by the keyboard. What draws them is loaded when the first is wanted.
import type { FloatingPosition } from '@mantine/core'
import {
  lazy,
  Suspense,
  useEffect,
  useRef,
  useState,
  type ComponentType,
  type PointerEvent,
  type ReactElement,
} from 'react'
import type { BubbleProps } from './TipBubble'

const Bubble = lazy(() =>
  import('./TipBubble').then(
    ({ TipBubble }): { default: ComponentType<BubbleProps> } => ({ default: TipBubble }),
    // Nobody needs it: what it stands beside has a name.
    () => ({ default: () => null }),
  ),
)
const DELAY_MS = 300

type Props = {
  label: string
  position?: FloatingPosition
  isOff?: boolean
  children: ReactElement
}

export function Tip({ label, position, isOff = false, children }: Props) {
  const around = useRef<HTMLSpanElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [isOpen, setOpen] = useState(false)
  const close = () => {
    clearTimeout(timer.current)
    setOpen(false)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const open = ({ pointerType }: PointerEvent) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOpen(true), pointerType === 'touch' ? 0 : DELAY_MS)
  }
  return (
    <span
      ref={around}
      className="around"
      onPointerEnter={open}
      // A finger leaves as soon as it is lifted, and then there was no time to read.
      onPointerLeave={({ pointerType }) => pointerType !== 'touch' && close()}
      onFocus={({ target }) => target.matches(':focus-visible') && setOpen(true)}
      onBlur={close}
    >
      {children}
      {isOpen && !isOff && (
        <Suspense fallback={null}>
          <Bubble label={label} position={position} around={around} onClose={close} />
        </Suspense>
      )}
    </span>
  )
}
