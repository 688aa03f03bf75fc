// Entries of the activity log in words: who did what to which thing.
import type { Schema } from '../api/client'

type Stored = Schema<'ActivityLogEntry'>
/** Without what is always null. */
export type Entry = Omit<Stored, 'detail'> & { detail: Omit<Stored['detail'], 'trigger'> }

/** Kinds of things, as the log names them and as people do. */
export const THINGS: Readonly<Record<string, string>> = {
  Organization: 'organization',
  OrganizationMembership: 'member',
  OrganizationInvite: 'invite',
  OrganizationDomain: 'domain',
  Project: 'project',
  AccessControl: 'access rule',
  Role: 'role',
  BatchExport: 'export',
  Plugin: 'app',
  PluginConfig: 'app settings',
  EventDefinition: 'event definition',
  PropertyDefinition: 'property definition',
  Annotation: 'annotation',
  PersonalAPIKey: 'personal API key',
  ServiceAPIKey: 'service key',
  User: 'account',
}

const DEEDS: Readonly<Record<string, string>> = {
  created: 'made',
  updated: 'changed',
  deleted: 'deleted',
  accepted: 'accepted',
  resent: 'resent',
  verified: 'verified',
  rolled: 'replaced the value of',
  source_updated: 'changed the source of',
  order_changed: 'changed the order of',
  config_updated: 'changed',
  attachment_created: 'added a file to',
  attachment_updated: 'replaced a file of',
  attachment_deleted: 'removed a file of',
  job_triggered: 'started a job of',
}

const plain = (name: string) => name.replaceAll('_', ' ')

export const thingText = ({ scope }: Entry): string => THINGS[scope] ?? scope

/** Where the general word would be odd. */
const OWN_DEEDS: Readonly<Record<string, string>> = {
  'OrganizationMembership created': 'added',
  'OrganizationMembership deleted': 'removed',
  'OrganizationInvite deleted': 'took back',
  'OrganizationDomain created': 'added',
  'OrganizationDomain deleted': 'gave up',
}

export const deedText = ({ scope, activity }: Entry): string =>
  OWN_DEEDS[`${scope} ${activity}`] ?? DEEDS[activity] ?? plain(activity)

export const actorText = ({ actor, is_system }: Entry): string =>
  is_system && actor.name === 'system' ? 'Longshore' : actor.name

/** `changed export Hourly to S3` */
export const entryText = (entry: Entry): string =>
  [deedText(entry), thingText(entry), entry.detail.name].filter(Boolean).join(' ')

/** A value as it was or is, for reading. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** The same on one line. */
export function changeText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${changeText(part)}`)
    .join(', ')
}
