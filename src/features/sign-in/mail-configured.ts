// Some things come by mail alone.
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'

export function assertMailConfigured(services: Services): void {
  if (services.mailer.configured) return
  throw invalid(
    null,
    'email_not_available',
    'No outgoing mail is configured here: ask whoever runs this instance.',
  )
}
