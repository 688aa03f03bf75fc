// Tools that read.
import { z } from 'zod'
import { EXPORT, ORGANIZATION, PROJECT } from './paths.ts'
import { tool, type Tool } from './tool.ts'

const page = {
  limit: z.int().min(1).max(1000).optional().describe('Results per page: 100 without it.'),
  offset: z.int().min(0).optional().describe('Index of the first result.'),
}
const cursor = { cursor: z.string().optional().describe('From `next` of the page before.') }
const search = z.string().optional().describe('Part of the name, whatever its case.')

export const READING: Tool[] = [
  tool({
    name: 'query',
    title: 'Run a HogQL query',
    description:
      'Answers one SELECT statement in HogQL (SQL of ClickHouse) over the tables events, persons, person_distinct_ids and groups of a project. A property is `properties.name` or `properties."$name"`, one of the person `person.properties.name`. 100 rows without LIMIT. List the event and property definitions first, to know the names.',
    call: `POST ${PROJECT}/query/`,
    fields: { query: z.string().min(1).describe('One SELECT statement.') },
    body: ({ query }) => ({ query: { kind: 'HogQLQuery', query } }),
  }),
  tool({
    name: 'list_event_definitions',
    title: 'List events',
    description: 'Which events a project has: name, description, how often they came, when first and last.',
    call: `GET ${PROJECT}/event_definitions/`,
    fields: {
      search,
      ordering: z.string().optional().describe('`name`, `-volume`, `-last_seen_at` or `-created_at`.'),
      ...page,
    },
  }),
  tool({
    name: 'list_property_definitions',
    title: 'List properties',
    description: 'Which properties events, persons or groups of a project have, and their types.',
    call: `GET ${PROJECT}/property_definitions/`,
    fields: {
      type: z.enum(['event', 'person', 'group']).optional().describe('Those of events without it.'),
      group_type_index: z.int().min(0).max(4).optional().describe('With `type` group: which type of groups.'),
      event_names: z.array(z.string()).optional().describe('Events to look at.'),
      filter_by_event_names: z.boolean().optional().describe('Only properties that those events have had.'),
      search,
      ...page,
    },
  }),
  tool({
    name: 'list_event_property_values',
    title: 'Values of an event property',
    description: 'Values that a property of events has had in the last days.',
    call: `GET ${PROJECT}/events/values/`,
    fields: {
      key: z.string().min(1).describe('Name of the property.'),
      event_name: z.string().optional(),
      value: z.string().optional().describe('Part of the value.'),
    },
  }),
  tool({
    name: 'list_person_property_values',
    title: 'Values of a person property',
    description: 'Values that a property of persons has, and how many persons have each.',
    call: `GET ${PROJECT}/persons/values/`,
    fields: {
      key: z.string().min(1).describe('Name of the property.'),
      value: z.string().optional().describe('Part of the value.'),
    },
  }),
  tool({
    name: 'list_projects',
    title: 'List projects',
    description: 'The projects of an organization, with their ids.',
    call: `GET ${ORGANIZATION}/projects/`,
    fields: page,
  }),
  tool({
    name: 'list_organizations',
    title: 'List organizations',
    description: 'The organizations that the key reaches, with their ids.',
    call: 'GET /api/organizations/',
    fields: page,
  }),
  tool({
    name: 'list_exports',
    title: 'List exports',
    description: 'The batch exports of a project: where they go, how often, and their latest runs.',
    call: `GET ${PROJECT}/batch_exports/`,
    fields: page,
  }),
  tool({
    name: 'get_export',
    title: 'One export',
    description: 'One batch export with its destination, schedule and latest runs.',
    call: `GET ${EXPORT}/`,
  }),
  tool({
    name: 'get_export_status',
    title: 'Do exports keep up?',
    description: 'For each export of a project, how far it has delivered and whether it keeps up.',
    call: `GET ${PROJECT}/batch_exports/status/`,
  }),
  tool({
    name: 'get_export_reconciliation',
    title: 'Proof that an export is complete',
    description:
      'Compares what was stored with what an export delivered: whether anything is missing or was sent twice.',
    call: `GET ${EXPORT}/reconciliation/`,
  }),
  tool({
    name: 'list_export_verifications',
    title: 'List verifications',
    description: 'When the server read delivered files or rows back, and what it found.',
    call: `GET ${EXPORT}/verifications/`,
  }),
  tool({
    name: 'get_export_verification',
    title: 'One verification',
    description: 'What one verification of an export found, part by part.',
    call: `GET ${EXPORT}/verifications/:verification_id/`,
  }),
  tool({
    name: 'list_export_runs',
    title: 'List runs',
    description: 'The runs of an export, newest first: interval, status, rows, error.',
    call: `GET ${EXPORT}/runs/`,
    fields: cursor,
  }),
  tool({
    name: 'get_export_run',
    title: 'One run',
    description: 'One run of an export.',
    call: `GET ${EXPORT}/runs/:run_id/`,
  }),
  tool({
    name: 'list_export_run_logs',
    title: 'Log of a run',
    description: 'What one run of an export wrote to its log.',
    call: `GET ${EXPORT}/runs/:run_id/logs/`,
    fields: page,
  }),
  tool({
    name: 'list_apps',
    title: 'List apps',
    description: 'The apps (plugins) of an organization, and what each can do.',
    call: `GET ${ORGANIZATION}/plugins/`,
    fields: page,
  }),
  tool({
    name: 'list_app_configs',
    title: 'List apps of a project',
    description: 'Which apps are configured in a project, whether they are enabled, and their last error.',
    call: `GET ${PROJECT}/plugin_configs/`,
    fields: page,
  }),
  tool({
    name: 'list_app_logs',
    title: 'Log of an app',
    description: 'What an app wrote to its log in a project, newest first.',
    call: `GET ${PROJECT}/plugin_configs/:app_config_id/logs/`,
    fields: { search: z.string().optional(), limit: page.limit },
  }),
  tool({
    name: 'list_members',
    title: 'List members',
    description: 'The members of an organization and their levels: 1 member, 8 admin, 15 owner.',
    call: `GET ${ORGANIZATION}/members/`,
    fields: page,
  }),
  tool({
    name: 'list_invites',
    title: 'List invites',
    description: 'Invites to an organization that nobody has accepted yet.',
    call: `GET ${ORGANIZATION}/invites/`,
    fields: page,
  }),
]
