// Values of a statement that is put together by hand. With their type, so that it does not hang on how they are bound.
import type { Parameter } from '../event-store.ts'

/** The first ones are those of a part that is written already. */
export function newParameters(first: readonly Parameter[] = []) {
  const bound: Parameter[] = [...first]
  const whole = (value: number) => `$${bound.push(value)}::BIGINT`
  const text = (value: string) => `$${bound.push(value)}::VARCHAR`
  return { bound, whole, text, instant: (date: Date) => `epoch_ms(${whole(date.getTime())})` }
}
