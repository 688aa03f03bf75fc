// What is known of projects' catalogues, in memory and bounded: an event that brings nothing new costs a look per
// property and no statement.
import { RecentlyUsed } from '../persons/recently-used.ts'

/** `event`, `person`, or `group <type of groups>`. */
export type Owner = string

export const groupOwner = (group_type: string): Owner => `group ${group_type}`

/** Names by whether a type has been found for them. */
export type KnownProperties = { typed: Set<string>; untyped: Set<string> }

export type KnownProject = {
  /** Names of properties, by event. */
  events: Map<string, Set<string>>
  /** How many those are together. */
  pairs: number
  properties: Map<Owner, KnownProperties>
}

/** Names kept over all projects. An entry of a set takes some 40 bytes; the texts are shared with each other. */
const MAX_ENTRIES = 500_000

export function emptyProject(): KnownProject {
  return { events: new Map(), pairs: 0, properties: new Map() }
}

export function propertiesOf({ properties }: KnownProject, owner: Owner): KnownProperties {
  let known = properties.get(owner)
  if (!known) properties.set(owner, (known = { typed: new Set(), untyped: new Set() }))
  return known
}

/** Projects in the order of their last use; those not used for longest are let go, and read again when they come back. */
export class KnownDefinitions {
  readonly #projects = new RecentlyUsed<KnownProject>()
  readonly #max_entries: number

  constructor(max_entries = MAX_ENTRIES) {
    this.#max_entries = max_entries
  }

  get(project_id: number): KnownProject | undefined {
    return this.#projects.get(String(project_id))
  }

  /** Also after it has grown. */
  set(project_id: number, project: KnownProject): void {
    this.#projects.set(String(project_id), project, entriesOf(project))
    this.#projects.trim(() => this.#projects.bytes > this.#max_entries)
  }

  delete(project_id: number): void {
    this.#projects.delete(String(project_id))
  }

  clear(): void {
    this.#projects.clear()
  }
}

function entriesOf({ events, pairs, properties }: KnownProject): number {
  // Sets and maps take up room as well.
  let entries = 10 + 3 * events.size + pairs
  for (const { typed, untyped } of properties.values()) entries += typed.size + untyped.size
  return entries
}
