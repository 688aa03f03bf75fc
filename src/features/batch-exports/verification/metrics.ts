// What /metrics tells of verification: no names, no ids.
import type { Metrics } from '../../../platform/http/metrics.ts'
import type { Services } from '../../../platform/services.ts'
import { countProblems } from './read-queries.ts'
import type { Verifier } from './verifier.ts'

export function addVerificationMetrics(
  metrics: Metrics,
  { db }: Pick<Services, 'db'>,
  verifier: Verifier,
): void {
  metrics.counter(
    'longshore_export_verifications_total',
    'Verifications of exports that have ended, by verdict.',
    () => verifier.countEnded(),
    'verdict',
  )
  metrics.gauge(
    'longshore_export_verification_problems',
    'Problems of exports that the last verification has found, by kind.',
    () => countProblems(db),
    'kind',
  )
}
