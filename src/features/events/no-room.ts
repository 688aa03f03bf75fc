// Events that cannot be taken now, for a reason that their sender is told.
import { StoreBusy } from '../../platform/event-store/event-store.ts'

export class NoRoom extends StoreBusy {
  constructor(
    readonly detail: string,
    readonly retry_after_s: number,
  ) {
    super(detail)
  }
}
