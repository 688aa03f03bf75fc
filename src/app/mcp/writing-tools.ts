// Tools that change something.
import { z } from 'zod'
import { EXPORT, ORGANIZATION, PROJECT } from './paths.ts'
import { tool, type Tool } from './tool.ts'

const notes = {
  description: z.string().optional(),
  tags: z.array(z.string()).optional().describe('Replace those that are there.'),
  verified: z.boolean().optional(),
  hidden: z.boolean().optional(),
}
const range = {
  start_at: z.string().optional().describe('First instant (ISO 8601); the first event without it.'),
  end_at: z.string().optional().describe('Instant behind the last (ISO 8601); now without it.'),
}
const exported = {
  name: z.string().optional(),
  interval: z.enum(['hour', 'day', 'week', 'every 5 minutes', 'every 15 minutes']).optional(),
  paused: z.boolean().optional(),
  destination: z
    .object({ type: z.string(), config: z.record(z.string(), z.unknown()) })
    .optional()
    .describe(
      'Where to, such as {"type": "File", "config": {"prefix": "events/", "file_format": "Parquet"}}.',
    ),
}

export const WRITING: Tool[] = [
  tool({
    name: 'update_event_definition',
    title: 'Describe an event',
    description: 'Describes, tags, verifies or hides an event in the catalogue.',
    call: `PATCH ${PROJECT}/event_definitions/:event_definition_id/`,
    fields: notes,
  }),
  tool({
    name: 'update_property_definition',
    title: 'Describe a property',
    description: 'Describes, tags, verifies or hides a property in the catalogue, or sets its type.',
    call: `PATCH ${PROJECT}/property_definitions/:property_definition_id/`,
    fields: {
      ...notes,
      property_type: z.enum(['String', 'Numeric', 'Boolean', 'DateTime', 'Duration']).optional(),
    },
  }),
  tool({
    name: 'create_export',
    title: 'Create an export',
    description: 'Creates a batch export that delivers events of a project on a schedule.',
    call: `POST ${PROJECT}/batch_exports/`,
    fields: {
      ...exported,
      name: z.string(),
      interval: exported.interval.unwrap(),
      destination: exported.destination.unwrap(),
    },
  }),
  tool({
    name: 'update_export',
    title: 'Change an export',
    description: 'Changes name, schedule or destination of a batch export.',
    call: `PATCH ${EXPORT}/`,
    fields: exported,
  }),
  tool({
    name: 'pause_export',
    title: 'Pause an export',
    description: 'No new runs begin until it is unpaused.',
    call: `POST ${EXPORT}/pause/`,
  }),
  tool({
    name: 'unpause_export',
    title: 'Unpause an export',
    description: 'Runs begin again; with a backfill, what came meanwhile is delivered too.',
    call: `POST ${EXPORT}/unpause/`,
    fields: { backfill: z.boolean().optional() },
  }),
  tool({
    name: 'run_export',
    title: 'Run an export now',
    description: 'Delivers what has arrived since its last run, without waiting for the schedule.',
    call: `POST ${EXPORT}/runs/`,
  }),
  tool({
    name: 'backfill_export',
    title: 'Backfill an export',
    description: 'Delivers events of a time in the past, as far as the export has not delivered them yet.',
    call: `POST ${EXPORT}/backfill/`,
    fields: range,
  }),
  tool({
    name: 'verify_export',
    title: 'Verify an export',
    description:
      'Starts reading back what an export delivered; the result is listed among its verifications.',
    call: `POST ${EXPORT}/verify/`,
  }),
  tool({
    name: 'retry_export_run',
    title: 'Retry a run',
    description: 'Delivers the same events as a run that failed or was cancelled.',
    call: `POST ${EXPORT}/runs/:run_id/retry/`,
  }),
  tool({
    name: 'cancel_export_run',
    title: 'Cancel a run',
    description: 'Stops a run that is under way.',
    call: `POST ${EXPORT}/runs/:run_id/cancel/`,
  }),
  tool({
    name: 'update_app_config',
    title: 'Switch an app on or off',
    description: 'Enables or disables an app in a project.',
    call: `PATCH ${PROJECT}/plugin_configs/:app_config_id/`,
    fields: { enabled: z.boolean() },
  }),
  tool({
    name: 'invite_member',
    title: 'Invite somebody',
    description: 'Invites somebody to an organization by e-mail, as a member unless told otherwise.',
    call: `POST ${ORGANIZATION}/invites/`,
    fields: {
      target_email: z.string(),
      level: z.literal([1, 8, 15]).optional().describe('1 member, 8 admin, 15 owner.'),
    },
  }),
]
