// What takes the secrets of an export's destination out of texts about it.
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import type { ExportRow } from '../rows.ts'
import { redactorOf } from '../scrub.ts'
import { configWithSecrets } from '../secrets.ts'

export function redactorOfExport(services: Pick<Services, 'secrets'>, row: ExportRow): Redactor {
  return redactorOf(DESTINATIONS.get(row.destination_type)!, configWithSecrets(services, row))
}
