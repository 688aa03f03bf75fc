// Row → Project of the API, short and full.
import type { z } from 'zod'
import type { Level } from '../../platform/http/caller.ts'
import type { BasicProject, BasicProjectRow, Project, ShownProjectRow } from './schema.ts'

export function presentBasicProject(row: BasicProjectRow): z.input<typeof BasicProject> {
  return {
    id: row.id,
    uuid: row.uuid,
    organization: row.organization_id,
    project_id: row.id,
    api_token: row.api_token,
    name: row.name,
    completed_snippet_onboarding: row.completed_snippet_onboarding,
    has_completed_onboarding_for: {},
    ingested_event: row.ingested_event,
    is_demo: row.is_demo,
    timezone: row.timezone,
    access_control: row.is_private,
  }
}

export function presentProject(row: ShownProjectRow, level: Level): z.input<typeof Project> {
  return {
    ...presentBasicProject(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    app_urls: row.app_urls,
    anonymize_ips: row.anonymize_ips,
    autocapture_exceptions_opt_in: row.autocapture_exceptions_opt_in,
    autocapture_web_vitals_opt_in: row.autocapture_web_vitals_opt_in,
    heatmaps_opt_in: row.heatmaps_opt_in,
    session_recording_opt_in: row.session_recording_opt_in,
    surveys_opt_in: row.surveys_opt_in,
    cookieless_server_hash_mode: row.cookieless_server_hash_mode,
    recording_domains: row.recording_domains,
    effective_membership_level: level,
  }
}
