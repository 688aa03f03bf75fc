import { Tooltip, type FloatingPosition } from '@mantine/core'
import { useEffect, useEffectEvent, useId, type RefObject } from 'react'

export type BubbleProps = {
  label: string
  position: FloatingPosition | undefined
  /** Holds what it is about. */
  around: RefObject<HTMLElement | null>
  onClose: () => void
}

export function TipBubble({ label, position, around, onClose }: BubbleProps) {
  const id = useId()
  const target = around.current!.firstElementChild as HTMLElement
  const close = useEffectEvent(onClose)
  useEffect(() => {
    target.setAttribute('aria-describedby', id)
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && close()
    const onDown = ({ target: at }: Event) => !target.contains(at as Node) && close()
    addEventListener('keydown', onKey)
    addEventListener('pointerdown', onDown)
    return () => {
      target.removeAttribute('aria-describedby')
      removeEventListener('keydown', onKey)
      removeEventListener('pointerdown', onDown)
    }
  }, [target, id])
  return <Tooltip id={id} role="tooltip" opened label={label} position={position ?? 'top'} target={target} />
}
