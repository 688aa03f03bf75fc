// Where a client wants its stream to go on: the id of the last message it has got.
import { z } from 'zod'
import { invalid } from '../errors.ts'
import { textParameter } from '../parameters.ts'
import type { RequestFacts } from '../route.ts'

export const PositionQuery = z.object({
  last_event_id: textParameter(
    'Go on after the message with this id; 0 begins with what is stored already. The header `Last-Event-ID` wins.',
  ),
})
export type PositionQuery = z.output<typeof PositionQuery>

/** Null: from now on. The header wins: browsers open the same address again, and say by it how far they came. */
export function readPosition(
  { last_event_id }: PositionQuery,
  headers: RequestFacts['headers'],
): number | null {
  const text = [headers['last-event-id']].flat().at(-1) || last_event_id
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalid('last_event_id', 'invalid_input', 'This is not the id of a message.')
}
