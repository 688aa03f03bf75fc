// Connects the services' intake with ingestion.
import type { Services } from '../../platform/services.ts'
import { findProjectById } from '../projects/queries.ts'
import type { Ingest } from './ingest.ts'
import { addClientAddress } from './pipeline/client-address.ts'

export function openIntake({ db, intake }: Pick<Services, 'db' | 'intake'>, ingest: Ingest): void {
  intake.open(async (project_id, events, bytes) => {
    const project = await findProjectById(db, project_id)
    if (!project) return
    if (project.anonymize_ips) for (const event of events) addClientAddress(event, null)
    await ingest.accept(project, events, bytes)
  })
}
